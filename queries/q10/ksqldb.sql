-- q10, log to file system: every bid, written to files partitioned by day and minute.

CREATE STREAM ${run}q10 WITH (KAFKA_TOPIC='${run}q10', VALUE_FORMAT='JSON') AS
SELECT auction, bidder, price, date_time, extra, FORMAT_TIMESTAMP(date_time, 'yyyy-MM-dd', 'UTC') AS dt,
  FORMAT_TIMESTAMP(date_time, 'HH:mm', 'UTC') AS hm
FROM ${run}bid
EMIT CHANGES;
