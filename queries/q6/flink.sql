-- q6, average selling price by seller: for each auction that was bid on, the truncated average of the winning prices of its
-- seller's last ten such auctions up to it, in the order of (expires, id).
--
-- Deviation: Flink's SQL has no average over the last rows of a result that changes, as that of winning bids does. The view
-- average_selling_price is a program in the jar that reads table nexmark; it emits an auction once the watermark has passed
-- its end.

CREATE TABLE answer (
  seller BIGINT,
  auction BIGINT,
  avg_price BIGINT
) WITH (
  'connector' = 'nexmark-sink'
);

INSERT INTO answer
SELECT seller, auction, avg_price
FROM average_selling_price;
