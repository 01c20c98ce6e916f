-- TPC-H's Q1 and Q6; products of columns are not added up, so that prices stand for discounted ones
select returnflag, linestatus, sum(quantity) as sum_qty, sum(extendedprice) as sum_base_price,
  avg(quantity) as avg_qty, avg(extendedprice) as avg_price, avg(discount) as avg_disc, count(*) as count_order
from rows where shipdate <= date '1998-09-02'
group by returnflag, linestatus order by returnflag, linestatus;
select sum(extendedprice) as revenue from rows
where shipdate >= date '1994-01-01' and shipdate < date '1995-01-01'
  and discount between 0.045 and 0.075 and quantity < 24;
