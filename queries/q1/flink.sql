-- q1, currency conversion: every bid with its price in euros, exact to three decimals.

CREATE TABLE answer (
  auction BIGINT,
  bidder BIGINT,
  price DECIMAL(23, 3),
  `dateTime` TIMESTAMP(3),
  extra STRING
) WITH (
  'connector' = 'nexmark-sink'
);

INSERT INTO answer
SELECT auction, bidder, 0.908 * price, `dateTime`, extra
FROM bid;
