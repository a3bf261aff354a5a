// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/views/common/retrieving_runs.h"

#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"

#include <memory>
#include <string>
#include <utility>

namespace spanscope::test {
namespace {

constexpr const char* kQuery =
    R"({"g":{"model":"m","input":{"cross":[{"augment":{"embedding_model":"e","body":{"user":"Where?"},)"
    R"("doc":["people.csv",{"Text":"x"}]}},{"user":"Where?"}]}}})";

trace::PassageInfo passage(std::size_t number, double score, const char* text, bool inPrompt) {
  trace::PassageInfo info;
  info.hash = kPassageHashes[number];
  info.source = "people.csv";
  info.place = "record " + std::to_string(number + 1);
  info.text = text;
  info.rank = static_cast<std::uint32_t>(number + 1);
  info.score = score;
  info.lexicalRank = info.rank;
  info.lexicalScore = score;
  info.inPrompt = inPrompt;
  return info;
}

}  // namespace

RetrievingRuns::RetrievingRuns()
    : model(*query::parseJson(kQuery).query), document(spanscope::document::fromQuery(model)) {}

document::NodeId RetrievingRuns::augment() const {
  for (const spanscope::document::NodeId id : document.document().ids()) {
    if (document.document().at(id).own.as<query::Augment>() != nullptr) return id;
  }
  return spanscope::document::kNoNode;
}

ui::ViewInput RetrievingRuns::input(std::size_t events) const {
  auto store = std::make_shared<ui::TraceStore>();
  std::uint64_t sequence = 0;
  const auto send = [&](RunId run, const NodePath& node, trace::Payload payload) {
    if (store->size() >= events) return;
    trace::Event event;
    event.sequence = ++sequence;
    event.run = run;
    event.node = node;
    event.payload = std::move(payload);
    store->append(std::move(event));
  };
  trace::SessionStarted session;
  session.pool.blockSize = 16;
  send(0, {}, session);
  for (const RunId run : {RunId(1), RunId(2)}) {
    send(run, {}, trace::RunStarted{"{}", "spans", 0});
    trace::PassagesRetrieved found{"Where?", trace::PassageRanking::Hybrid, 1, {}};
    found.passages = {passage(0, 8.25, "Mira lives in Lisbon.", true),
                      passage(1, 4.5, "Otto lives\nin Porto.", run == 1),
                      passage(2, 0.25, "Tarek is a baker.", false)};
    found.passages[0].embeddingRank = 2;
    found.passages[0].embeddingScore = 0.75;
    send(run, "/g/input/cross/0", found);
  }
  ui::ViewInput result;
  result.document = document.snapshot();
  result.position = store->size();
  result.trace = std::move(store);
  const spanscope::document::NodePaths paths =
      spanscope::document::toQuery(document.document(), spanscope::document::TakeOut::Nothing).paths;
  result.paths = {{1, paths}, {2, paths}};
  return result;
}

}  // namespace spanscope::test
