-- The event stream as ksqlDB sees it: a topic for each kind of event, keyed, with JSON values and the event time as the
-- timestamp of the record. Of these statements a run makes those whose names its query uses. `${run}` stands before every
-- name, so that runs do not meet; by hand, `DEFINE run = 'my_';` sets it.

CREATE STREAM ${run}person (id BIGINT KEY, name STRING, email_address STRING, credit_card STRING, city STRING,
  state STRING, date_time TIMESTAMP, extra STRING)
WITH (KAFKA_TOPIC='${run}person', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON', TIMESTAMP='date_time');

CREATE STREAM ${run}auction (id BIGINT KEY, item_name STRING, description STRING, initial_bid BIGINT, reserve BIGINT,
  date_time TIMESTAMP, expires TIMESTAMP, seller BIGINT, category BIGINT, extra STRING)
WITH (KAFKA_TOPIC='${run}auction', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON', TIMESTAMP='date_time');

CREATE STREAM ${run}bid (auction BIGINT KEY, bidder BIGINT, price BIGINT, channel STRING, url STRING,
  date_time TIMESTAMP, extra STRING)
WITH (KAFKA_TOPIC='${run}bid', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON', TIMESTAMP='date_time');

CREATE TABLE ${run}person_t (id BIGINT PRIMARY KEY, name STRING, city STRING, state STRING, date_time TIMESTAMP)
WITH (KAFKA_TOPIC='${run}person', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON', TIMESTAMP='date_time');

CREATE TABLE ${run}auction_t (id BIGINT PRIMARY KEY, seller BIGINT, category BIGINT, date_time TIMESTAMP)
WITH (KAFKA_TOPIC='${run}auction', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON', TIMESTAMP='date_time');

CREATE TABLE ${run}side_input (side_key BIGINT PRIMARY KEY, side_value STRING)
WITH (KAFKA_TOPIC='${run}side_input', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON');
