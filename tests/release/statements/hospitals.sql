select ward, count(*) as stays, avg(nights) as mean_nights from rows group by ward;
select date_trunc('month', admitted) as month, count(*) as stays from rows group by month order by month;
select ward, avg(cost) as mean_cost, sum(cost) as total_cost from rows where age >= 18 group by ward;
select age // 20 * 20 as from_age, count(*) as stays from rows where emergency group by from_age;
select ward, count(*) filter (where emergency) * 100.0 / count(*) as percent_emergencies from rows group by ward;
select percentile_cont(0.9) within group (order by nights) as long_stay from rows where ward in ('hearts', 'bones');
select count(*) filter (where nights > 7) - count(*) filter (where nights = 0) as longer from rows;
