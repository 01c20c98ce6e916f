select mode, count(*) as trips from rows group by mode having count(*) > 100;
select hour, count(*) as trips from rows where weekday in ('Mon', 'Tue', 'Wed', 'Thu', 'Fri') group by hour;
select district, mode, count(*) as trips from rows group by district, mode;
select district, avg(minutes) as mean_minutes, median(minutes) as middle_minutes from rows group by district;
select hour between 7 and 9 or hour between 16 and 18 as rush, avg(minutes) as mean_minutes, count(*) as trips
from rows group by rush;
select road, count(*) as trips from rows group by road;
