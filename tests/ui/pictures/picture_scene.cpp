// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/pictures/picture_scene.h"

#include "engine/workbench/document/edits.h"
#include "tests/ui/views/common/recorded_runs.h"

#include <cstdint>
#include <string>
#include <variant>

namespace spanscope::test {
namespace {

constexpr std::int64_t kStep = 1'000'000;  // nanoseconds between two events
constexpr std::int64_t kPass = 800'000;    // nanoseconds of a forward pass
constexpr double kFirstToken = 0.012;      // seconds
constexpr double kBetweenTokens = 0.001;   // seconds

/// The clock and the machine of a picture, whatever those of the run were.
void pin(trace::Event& event, std::int64_t index) {
  event.time = index * kStep;
  if (auto* session = std::get_if<trace::SessionStarted>(&event.payload)) {
    session->program = "spanscope";
    session->model = "spanlet";
    session->backend = "CPU";
    session->threads = 1;
  }
  if (auto* pass = std::get_if<trace::BatchComputed>(&event.payload)) pass->nanoseconds = kPass;
  if (auto* metrics = std::get_if<trace::StepMetrics>(&event.payload)) {
    metrics->timeToFirstToken = kFirstToken;
    metrics->interTokenLatency = metrics->generatedTokens > 1 ? kBetweenTokens : 0;
    metrics->queueTime = 0;
  }
}

/// Of a document that was run, and run again with two of its documents exchanged.
ui::ViewInput sceneOf(const document::Document& document) {
  RunRecorder recorder;
  recorder.run(document);
  recorder.run(swapped(document));
  Recorded recorded = recorder.recorded();
  std::int64_t index = 0;
  for (trace::Event& event : recorded.events) pin(event, index++);
  return recorded.input();
}

}  // namespace

ui::ViewInput pictureScene() {
  return sceneOf(exampleDocument("rag.json"));
}

ui::ViewInput twentyDocumentsScene() {
  document::Document document = exampleDocument("rag.json");
  const document::NodeId cross = document.at(document.root()).children.at(0);
  const document::NodeId plus = document.at(cross).children.at(1);
  for (std::size_t i = document.at(plus).children.size(); i < 20; ++i) {
    const std::string text = "Visitor " + std::to_string(i + 1) + " lives in Lisbon.";
    const document::NodeId added =
        document::addNode(document, {query::Message{.role = query::Role::User, .text = text}});
    document::connect(document, added, {.parent = plus, .index = i});
  }
  return sceneOf(document);
}

}  // namespace spanscope::test
