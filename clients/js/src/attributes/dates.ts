/** Days between two public ones: from a date to the day, week, month, ... that it lies in, or the one that comes round. */
import type { Kinds } from "../attribute.js";
import { type Fields, list, text } from "../fields.js";
import { must } from "../refusal.js";
import { type Cut, bounded } from "./numbers.js";

const WRITTEN =
  /^[ \t\n\r\f]*((?!0000)\d{4}-\d\d-\d\d)([ T]([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|(?<=59:)60)([.,]\d+)?)?)?[ \t\n\r\f]*$/;
const ROUND: Readonly<Record<string, number>> = { weekday: 7, "month of year": 12 };

/** Returns the day that a text writes on the clocks of a place, undefined where it writes none. */
function written(value: unknown): string | undefined {
  const day = typeof value === "string" && WRITTEN.exec(value)?.[1];
  return day && new Date(day).toJSON()?.startsWith(day) ? day : undefined;
}

/** Returns which period a day lies in, counted from year 1; of those that come round from 0. */
function counted(cells: string, day: string): number {
  const days = Date.parse(day) / 864e5 + 719162; // since a Monday
  const months = 12 * parseInt(day) + parseInt(day.slice(5)) - 1;
  const cell = {
    whole: 0,
    day: days,
    week: days / 7,
    month: months,
    quarter: months / 3,
    year: months / 12,
    weekday: days % 7,
    "month of year": months % 12,
  }[cells];
  return Math.floor(cell!);
}

/** Returns the periods between two days. */
function dates(own: Fields): Cut<string> {
  const cells = text(own, "cells");
  const round = ROUND[cells];
  const [low, high] = (
    round && own["bounds"] === null ? ["0001-01-01", "9999-12-31"] : list(own, "bounds").map(written)
  ) as [string, string];
  const first = round ? 0 : counted(cells, low);
  const size = round ?? counted(cells, high) - first + 1;
  must(low <= high && size, "bounds, cells");
  return [size, written, low, high, (near) => counted(cells, near) - first];
}

export const KINDS: Kinds = { date: bounded("cells", dates) };
