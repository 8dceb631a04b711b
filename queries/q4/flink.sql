-- q4, average price for a category: the winning prices of the auctions of a category, averaged and truncated. A bid counts
-- when it is made while its auction is open. The state of the join only grows, since the end of an auction is no time
-- attribute.

CREATE TABLE answer (
  category BIGINT,
  `avg` BIGINT
) WITH (
  'connector' = 'nexmark-sink'
);

INSERT INTO answer
SELECT category, AVG(final)
FROM (
  SELECT A.id, A.category, MAX(B.price) AS final
  FROM auction AS A
  JOIN bid AS B ON A.id = B.auction
  WHERE B.`dateTime` BETWEEN A.`dateTime` AND A.expires
  GROUP BY A.id, A.category
)
GROUP BY category;
