// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/pictures/picture_scene.h"

#include "tests/ui/views/common/recorded_runs.h"

#include <cstdint>
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

}  // namespace

ui::ViewInput pictureScene() {
  const document::Document document = exampleDocument("rag.json");
  RunRecorder recorder;
  recorder.run(document);
  recorder.run(swapped(document));
  Recorded recorded = recorder.recorded();
  std::int64_t index = 0;
  for (trace::Event& event : recorded.events) pin(event, index++);
  return recorded.input();
}

}  // namespace spanscope::test
