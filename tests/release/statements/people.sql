-- the tasks of the usability study: a histogram and a mean
select education, count(*) as people from rows group by education;
select avg(age) as mean_age from rows;
