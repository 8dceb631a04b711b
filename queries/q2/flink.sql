-- q2, selection: the bids on every 123rd auction.

CREATE TABLE answer (
  auction BIGINT,
  price BIGINT
) WITH (
  'connector' = 'nexmark-sink'
);

INSERT INTO answer
SELECT auction, price
FROM bid
WHERE MOD(auction, 123) = 0;
