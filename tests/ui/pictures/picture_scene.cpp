// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/pictures/picture_scene.h"

#include "engine/trace/event_fields.h"
#include "engine/workbench/document/edits.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "tests/ui/views/common/retrieving_runs.h"
#include "ui/views/common/request_blocks.h"

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace spanscope::test {
namespace {

constexpr std::int64_t kStep = 1'000'000;  // nanoseconds between two events
constexpr std::int64_t kPass = 800'000;    // nanoseconds of a forward pass
constexpr double kFirstToken = 0.012;      // seconds
constexpr double kBetweenTokens = 0.001;   // seconds

/// Keys by the order in which they appear: those of a run depend on the processor's instruction set, which is
/// part of the cache's fingerprint.
class PinnedKeys {
 public:
  void pin(trace::Event& event) {
    std::visit([this](auto& payload) { fields(*this, payload); }, event.payload);
  }

  /// A member of an event, or of what an event holds.
  template <class T>
  void operator()(const char* /*name*/, T& member) {
    if constexpr (std::is_same_v<T, trace::BlockKey>) {
      rename(member);
    } else if constexpr (requires { fields(std::declval<PinnedKeys&>(), member); }) {
      fields(*this, member);
    } else if constexpr (std::ranges::range<T>) {
      if constexpr (std::is_class_v<std::ranges::range_value_t<T>>) {
        for (auto& part : member) (*this)("", part);
      }
    }
  }

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> m_order;

  void rename(trace::BlockKey& key) {
    if (key == trace::BlockKey()) return;  // of a block that is not cached
    const std::uint64_t index = m_order.try_emplace({key.high, key.low}, m_order.size() + 1).first->second;
    std::mt19937_64 digits(index);
    key = {.high = digits(), .low = digits()};
  }
};

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

/// Of a document that was run, and run again with two of its documents swapped.
ui::ViewInput sceneOf(const document::Document& document) {
  RunRecorder recorder;
  recorder.run(document);
  recorder.run(swapped(document));
  Recorded recorded = recorder.recorded();
  std::int64_t index = 0;
  PinnedKeys keys;
  for (trace::Event& event : recorded.events) {
    pin(event, index++);
    keys.pin(event);
  }
  ui::ViewInput input = recorded.input();
  input.prediction.newest = recorder.predict(document);
  return input;
}

/// The first node for which `is` says so.
template <class Is>
document::NodeId firstNode(const document::Document& document, Is is) {
  for (const document::NodeId id : document.ids()) {
    if (is(document.at(id).own)) return id;
  }
  return document::kNoNode;
}

}  // namespace

ui::ViewInput pictureScene() {
  ui::ViewInput input = sceneOf(exampleDocument("rag.json"));
  constexpr std::uint32_t kFirstDocument = 1;  // segment; the system's is 0
  input.selection = ui::selectionOfBlock(input, {.request = input.shownRequest(), .segment = kFirstDocument});
  return input;
}

ui::ViewInput stepsScene() {
  return sceneOf(exampleDocument("list-and-combine.json"));
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

ui::ViewInput mistakenScene() {
  document::Document document = exampleDocument("rag.json");
  const document::NodeId plus = firstNode(document, [](const query::Node& own) {
    const auto* join = own.as<query::Join>();
    return join != nullptr && join->kind == query::JoinKind::Plus;
  });
  const document::NodeId hollow = document::addNode(document, document::makeOperator("g"));
  document::connect(document, hollow, {.parent = plus, .index = 0});
  (void)document::addNode(document, document::makeOperator("augment"));
  ui::ViewInput input;
  input.trace = std::make_shared<ui::TraceStore>();
  input.document = std::make_shared<const document::Document>(std::move(document));
  return input;
}

ui::ViewInput passagesScene() {
  RetrievingRuns runs;
  runs.document.change(QStringLiteral("Pin"), [&runs](document::Document& document) {
    document::setPassageMark(document, runs.augment(), kPassageHashes[1], document::PassageMark::Pinned);
  });
  return runs.input();
}

}  // namespace spanscope::test
