-- q0, pass-through: every bid, unchanged.

CREATE TABLE answer (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  `dateTime` TIMESTAMP(3),
  extra STRING
) WITH (
  'connector' = 'nexmark-sink'
);

INSERT INTO answer
SELECT auction, bidder, price, `dateTime`, extra
FROM bid;
