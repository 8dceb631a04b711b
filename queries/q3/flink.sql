-- q3, local item suggestion: who offers an item of category 10 in Oregon, Idaho or California. The state of the join
-- only grows.

CREATE TABLE answer (
  name STRING,
  city STRING,
  state STRING,
  id BIGINT
) WITH (
  'connector' = 'nexmark-sink'
);

INSERT INTO answer
SELECT P.name, P.city, P.state, A.id
FROM auction AS A
JOIN person AS P ON A.seller = P.id
WHERE A.category = 10 AND (P.state = 'OR' OR P.state = 'ID' OR P.state = 'CA');
