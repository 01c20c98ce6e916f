/** `disk_reports`: a uniform cell of the disk around the own one, or any other cell of the enlarged grid. */
import { little, width } from "../bytes.js";
import { fields, integer } from "../fields.js";
import { place } from "../grid.js";
import { type Method } from "../oracle.js";
import { truth } from "./krr.js";
import { range } from "../range.js";
import { total } from "../total.js";

const LARGEST_SIDE = 1024;

const diskReports: Method = {
  fields: "grid loss radius truth",
  make(own, loss) {
    const side = integer(fields(own["grid"], "side"), "side", 1, LARGEST_SIDE);
    const r = integer(own, "radius", 0, side);
    const reach = (a: number): number => Math.floor(Math.sqrt(r * r - a * a)); // of the disk, a rows from its centre
    const starts: number[] = []; // the number of the first cell of every row of the enlarged grid
    const rows = range(side + 2 * r, (row) => reach(Math.max(r - row, row - r - side + 1, 0)));
    const outputs = rows.reduce((sum, half) => (starts.push(sum), sum + side + 2 * half), 0);
    const disk = range(2 * r + 1, (row) => 2 * reach(row - r) + 1);
    const area = total(disk);
    const [others, bytes] = [outputs - area, width(outputs)];
    const p = truth(own["truth"], loss, [BigInt(others), BigInt(area)]);
    return {
      sizes: [side * side],
      width: bytes,
      answer([cell], coins) {
        const [x, y] = place(side, cell!);
        const first = disk.map((length, row) => starts[x + row]! + rows[x + row]! + y - (length >> 1));
        let [near, row] = [coins.small(area)[0]!, 0];
        while (near >= disk[row]!) near -= disk[row++]!;
        near += first[row]!;
        if (!others) return little(near, bytes);
        const honest = coins.toss(p);
        let far = coins.small(others)[0]!;
        first.forEach((start, line) => (far += far >= start ? disk[line]! : 0));
        return little(honest ? near : far, bytes);
      },
    };
  },
};

export const METHODS = { disk_reports: diskReports };
