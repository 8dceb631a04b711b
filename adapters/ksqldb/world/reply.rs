//! The REST interface of a world.

use serde_json::{Value, json};
use wiremock::{Request, Respond, ResponseTemplate};

use super::statement::{normal, prefix};
use super::{Fate, Made, Running, Shared, Topic, World, group};

pub(super) struct Responder(pub(super) Shared);

/// A status and its body.
type Reply = (u16, Value);

impl Respond for Responder {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut world = self.0.lock();
        if world.gone {
            return ResponseTemplate::new(502).set_body_string("<html>Bad Gateway</html>");
        }
        let path = request.url.path();
        let (status, body) = match request.method.as_str() {
            "GET" => world.get(path),
            _ => {
                let body: Value = request.body_json().unwrap();
                world.properties = body["streamsProperties"].clone();
                world.post(&body)
            }
        };
        ResponseTemplate::new(status).set_body_json(body)
    }
}

fn refused(code: i64, message: &str, statement: &str) -> Reply {
    let body = json!({"@type": "statement_error", "error_code": code, "message": message, "statementText": statement, "entities": []});
    (u16::try_from(code / 100).unwrap(), body)
}

impl World {
    fn get(&mut self, path: &str) -> Reply {
        if let Some(command) = path.strip_prefix("/status/") {
            let command = command.replace("%60", "`");
            if let Some(at) = self.queued.iter().position(|queued| *queued == command) {
                self.queued.remove(at);
                return (200, json!({"status": "EXECUTING", "message": "", "queryId": null}));
            }
            let query = self.running.iter().find(|query| command.contains(&format!("`{}`", query.sink)));
            let id = query.map(|query| query.id.clone());
            return (200, json!({"status": "SUCCESS", "message": "done", "queryId": id}));
        }
        let exchange = self.recordings[0].exchanges.iter().find(|exchange| exchange.request.path == path);
        match exchange {
            Some(exchange) => (exchange.status, exchange.response.clone()),
            None => (404, json!({"@type": "generic_error", "error_code": 40400, "message": "no such path"})),
        }
    }

    fn post(&mut self, body: &Value) -> Reply {
        let text = body["ksql"].as_str().unwrap();
        self.statements.push(text.to_owned());
        if body["commandSequenceNumber"].as_i64().is_some_and(|number| number > self.number) {
            let message = "Timed out while waiting for a previous command to execute.";
            return (503, json!({"@type": "generic_error", "error_code": 50301, "message": message}));
        }
        for name in body["streamsProperties"].as_object().unwrap().keys() {
            let known = ["auto.offset.reset", "commit.interval.ms", "num.stream.threads", "max.task.idle.ms"];
            if !known.contains(&name.as_str()) {
                let message =
                    format!("Not recognizable as ksql, streams, consumer, or producer property: '{name}'");
                return refused(50000, &message, text);
            }
        }
        let words: Vec<&str> = text.trim_end_matches(';').split_whitespace().collect();
        match words[..] {
            ["SHOW", "PROPERTIES"] => (200, self.recordings[0].exchanges.last().unwrap().response.clone()),
            ["SHOW", "STREAMS;", "SHOW", "TABLES"] => (200, self.sources()),
            ["SHOW", "QUERIES"] => (200, self.queries()),
            ["EXPLAIN", id] => self.explain(id, text),
            ["TERMINATE", id] => self.terminate(id, text),
            ["DROP", kind, "IF", "EXISTS", name] => self.drop_source(kind, name, text),
            ["CREATE", kind, name, ..] => self.create_source(kind, name, text),
            _ => refused(40001, &format!("line 1:1: Syntax Error\nUnknown statement '{}'", words[0]), text),
        }
    }

    fn sources(&self) -> Value {
        let list = |table: bool| -> Vec<Value> {
            let made = self.made.iter().filter(|made| made.table == table);
            made.map(|made| json!({"type": "X", "name": made.name, "topic": made.topic})).collect()
        };
        json!([{"@type": "streams", "streams": list(false)}, {"@type": "tables", "tables": list(true)}])
    }

    fn queries(&self) -> Value {
        let list: Vec<Value> = self
            .running
            .iter()
            .map(|query| json!({"id": query.id, "sinks": [query.sink], "state": "RUNNING"}))
            .collect();
        json!([{"@type": "queries", "queries": list}])
    }

    fn explain(&mut self, id: &str, text: &str) -> Reply {
        let halfway = self.groups.values().any(|group| group.values().any(|at| *at > 1_000));
        if self.fate == Fate::Terminated && halfway {
            self.running.clear();
        }
        let Some(query) = self.running.iter().find(|query| query.id == id) else {
            let message = format!(
                "Query with id:{id} does not exist, use SHOW QUERIES to view the full set of queries."
            );
            return refused(40001, &message, text);
        };
        let mut description = query.description.clone();
        if self.fate == Fate::QueryFails && halfway {
            description["state"] = "ERROR".into();
            description["queryErrors"] =
                json!([{"timestamp": 0, "errorMessage": "disk full", "type": "SYSTEM"}]);
        }
        (200, json!([{"@type": "queryDescription", "queryDescription": description}]))
    }

    fn terminate(&mut self, id: &str, text: &str) -> Reply {
        let Some(at) = self.running.iter().position(|query| query.id == id) else {
            return refused(40001, &format!("Unknown queryId: {id}"), text);
        };
        self.running.remove(at);
        self.done(&format!("terminate/{id}/execute"), "Query terminated.", None)
    }

    fn drop_source(&mut self, kind: &str, name: &str, text: &str) -> Reply {
        let Some(at) = self.made.iter().position(|made| made.name == name) else {
            return (200, json!([{"@type": "warning_entity", "message": format!("{name} does not exist.")}]));
        };
        let topic = &self.made[at].topic;
        let used = self.running.iter().find(|query| query.sink == name || query.reads.contains(topic));
        if let Some(query) = used {
            let message = format!("Cannot drop {name}. The following queries use it: [{}].", query.id);
            return refused(
                40001,
                &format!("{message} You need to terminate them before dropping {name}."),
                text,
            );
        }
        self.made.remove(at);
        self.done(&format!("{}/{name}/drop", kind.to_lowercase()), "dropped", None)
    }

    /// A statement that the real server took, in the same words; anything else is refused.
    fn create_source(&mut self, kind: &str, name: &str, text: &str) -> Reply {
        let prefix = prefix(name).to_owned();
        let asked = normal(text, &prefix);
        let recorded = self.recordings[1..].iter().flat_map(|recording| recording.statements());
        let all: Vec<String> = recorded
            .flat_map(|(text, _)| text.split(';').map(str::to_owned).collect::<Vec<_>>())
            .map(|text| normal(&text, "nexmark_"))
            .collect();
        if !all.contains(&asked) {
            return refused(40001, &format!("line 1:1: not in the recordings: {asked}"), text);
        }
        let sink = name.to_uppercase();
        if self.made.iter().any(|made| made.name == sink) {
            let message = format!("Cannot add stream '{sink}': A stream with the same name already exists");
            return refused(40001, &message, text);
        }
        let topic = text.split("KAFKA_TOPIC='").nth(1).unwrap().split('\'').next().unwrap().to_owned();
        let table = kind == "TABLE";
        let command = format!("{}/`{sink}`/create", kind.to_lowercase());
        if !text.contains(" AS\nSELECT") {
            if !self.topics.contains_key(&topic) {
                return (
                    400,
                    json!({"@type": "generic_error", "error_code": 40000, "message": format!("Topic '{topic}' does not exist.")}),
                );
            }
            self.made.push(Made { name: sink, table, topic });
            return self.done(&command, "Stream created", None);
        }
        let last = sink.ends_with(&format!("_{}", self.query.to_uppercase()));
        if last && self.fate == Fate::StatementFails {
            let message = "io.confluent.ksql.util.KsqlException: outer\n\tat x.y\nCaused by: java.lang.Exception: no disk";
            let status = json!({"status": "ERROR", "message": message, "queryId": null});
            return (
                200,
                json!([{"@type": "currentStatus", "commandId": command, "commandStatus": status, "commandSequenceNumber": 7}]),
            );
        }
        let id = format!("{}_{sink}_{}", if table { "CTAS" } else { "CSAS" }, self.number + 1);
        let description = self.description(&sink[prefix.len()..], &id, &prefix);
        let reads = reads(&description, &self.topics);
        let partitions = self.topics.values().next().map_or(1, |topic| topic.partitions.len());
        let make = |name: String, world: &mut Self| {
            let topic =
                Topic { partitions: (0..partitions).map(|_| Vec::new()).collect(), kept_for_ever: false };
            world.topics.entry(name).or_insert(topic);
        };
        make(topic.clone(), self);
        reads.iter().for_each(|name| make(name.clone(), self));
        self.groups.insert(group(&id), Default::default());
        self.made.push(Made { name: sink.clone(), table, topic });
        self.running.push(Running { id: id.clone(), sink, reads, description });
        self.done(&command, &format!("Created query with ID {id}"), Some(&id))
    }

    /// The recorded description of the query with that sink, under the names of this run.
    fn description(&self, sink: &str, id: &str, prefix: &str) -> Value {
        let recorded = self.recordings[2].statements().find(|(text, exchange)| {
            text.starts_with("EXPLAIN")
                && exchange.response[0]["queryDescription"]["sinks"][0].as_str() == Some(sink)
        });
        let mut description = recorded.unwrap().1.response[0]["queryDescription"].clone();
        let topology = description["topology"].as_str().unwrap().to_owned();
        let made: Vec<String> = find_made(&self.made, prefix);
        let mut named = String::new();
        for line in topology.lines() {
            let line = match line.split_once("topics: [") {
                Some((before, topic)) if line.contains("Source:") => {
                    let name = topic.trim_end_matches("])").trim_start_matches("nexmark_");
                    let own = made.contains(&name.to_lowercase());
                    let name = if own { format!("{prefix}{name}").to_lowercase() } else { name.to_owned() };
                    format!("{before}topics: [{name}])")
                }
                _ => line.to_owned(),
            };
            named += &line;
            named.push('\n');
        }
        description["topology"] = named.into();
        description["id"] = id.into();
        description["consumerGroupId"] = group(id).into();
        description
    }

    fn done(&mut self, command: &str, message: &str, id: Option<&str>) -> Reply {
        self.number += 2;
        let slow = self.fate == Fate::SlowStatements;
        if slow {
            self.queued.push(command.to_owned());
        }
        let status = match slow {
            true => json!({"status": "QUEUED", "message": "", "queryId": null}),
            false => json!({"status": "SUCCESS", "message": message, "queryId": id}),
        };
        let entity = json!({
            "@type": "currentStatus", "commandId": command, "commandStatus": status,
            "commandSequenceNumber": self.number, "warnings": []
        });
        (200, json!([entity]))
    }
}

/// Topics of what was made, without the prefix.
fn find_made(made: &[Made], prefix: &str) -> Vec<String> {
    let topics = made
        .iter()
        .filter_map(|made| made.topic.to_lowercase().strip_prefix(&prefix.to_lowercase()).map(str::to_owned));
    topics.collect()
}

/// Topics that a query reads, its own with the name of its group.
fn reads(description: &Value, topics: &std::collections::BTreeMap<String, Topic>) -> Vec<String> {
    let topology = description["topology"].as_str().unwrap();
    let group = description["consumerGroupId"].as_str().unwrap();
    let lines = topology.lines().filter(|line| line.contains("Source:"));
    let names = lines.map(|line| line.split_once("topics: [").unwrap().1.trim_end_matches("])"));
    names
        .map(|name| if topics.contains_key(name) { name.to_owned() } else { format!("{group}-{name}") })
        .collect()
}
