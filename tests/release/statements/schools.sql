select school, count(*) as pupils from rows group by school order by 2 desc;
select school, avg(score) as mean_score, avg(absent) as days_absent from rows group by school;
select school, avg(case when free_meal = 'yes' then 1 else 0 end) as free_meals from rows group by school;
select case when grade <= 4 then 'primary' when grade <= 9 then 'middle' else 'upper' end as stage, sex, count(*) as pupils
from rows group by stage, sex;
select count(*) filter (where absent >= 20) as often_absent, count(*) as pupils from rows where grade between 5 and 9;
select sex, median(score) as middle_score from rows where score is not null group by sex;
select school, sex, count(*) as pupils from rows group by rollup (school, sex);
