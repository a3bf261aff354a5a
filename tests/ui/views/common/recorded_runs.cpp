// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/views/common/recorded_runs.h"

#include "engine/plan/explain.h"
#include "engine/query/json/json.h"
#include "engine/run/observation.h"
#include "engine/run/run_options.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "engine/workbench/pipeline.h"
#include "engine/workbench/resource_paths.h"
#include "tests/support/backends.h"
#include "ui/session/run_inputs.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace spanscope::test {

ui::ViewInput Recorded::input(std::size_t count, ui::Scheme scheme) const {
  auto trace = std::make_shared<ui::TraceStore>();
  for (std::size_t i = 0; i < count; ++i) trace->append(events[i]);
  ui::ViewInput input;
  input.document = document;
  input.position = trace->size();
  input.trace = std::move(trace);
  input.paths = paths;
  input.theme = ui::Theme(scheme);
  return input;
}

RunRecorder::RunRecorder(const run::SessionConfig& session)
    : m_bundle(workbench::loadModelBundle(workbench::bundledModelDirectory(), test::cpuBackends())),
      m_recorder({.session = 1, .queueCapacity = 65536, .keepEvents = true, .clock = {}}),
      m_session(workbench::makeSession(m_bundle, session, m_recorder)),
      m_document(std::make_shared<document::Document>()) {}

void RunRecorder::run(const document::Document& document, const policy::Policy& policy, bool observeRows,
                      layout::Layout layout) {
  document::QueryOf query = document::toQuery(document, document::TakeOut::MutedAndFrozen);
  if (!query.query) throw std::runtime_error("the document is not complete");
  run::RunOptions options;
  options.policy = policy;
  options.layout = layout;
  options.queryJson = query::writeCanonical(*query.query);
  const workbench::PipelineResult planned =
      workbench::runPipeline({.source = std::string_view(options.queryJson)});
  if (!planned.plan) throw std::runtime_error("cannot plan the query");
  options.explain = plan::explain(*planned.plan);
  for (std::int32_t layer = 0; layer < m_bundle.config.layers; ++layer)
    options.observedLayers.push_back(layer);
  options.attentionDetail = run::AttentionDetail::Heads;
  options.observeRows = observeRows;
  (void)m_session->run(*planned.plan, options);
  m_document = std::make_shared<const document::Document>(document);
  m_paths[++m_runs] = std::move(query.paths);
}

std::shared_ptr<const ui::DocumentPrediction> RunRecorder::predict(const document::Document& document,
                                                                   bool comparesLayouts) {
  document::QueryOf query = document::toQuery(document, document::TakeOut::MutedAndFrozen);
  if (!query.query) throw std::runtime_error("the document is not complete");
  auto prediction =
      m_predictor.predict({.id = 1,
                           .query = std::move(*query.query),
                           .paths = std::move(query.paths),
                           .parameters = document.parameters,
                           .settings = document.settings,
                           .comparesLayouts = comparesLayouts,
                           .surroundings = std::make_shared<ui::RunInputs>(QString(), ui::Asker{})},
                          m_session.get(), &m_bundle, {});
  return std::make_shared<const ui::DocumentPrediction>(std::move(*prediction));
}

Recorded RunRecorder::recorded() const {
  return {.document = m_document, .paths = m_paths, .events = m_recorder.events()};
}

ui::ViewInput withEvent(ui::ViewInput input, trace::Payload payload) {
  auto trace = std::make_shared<ui::TraceStore>(*input.trace);
  trace::Event event;
  if (trace->size() > 0) event = trace->event(trace->size() - 1);
  ++event.sequence;
  event.payload = std::move(payload);
  trace->append(std::move(event));
  input.position = trace->size();
  input.replay.results = trace->size();
  input.trace = std::move(trace);
  return input;
}

document::Document exampleDocument(const std::string& name) {
  std::ifstream file(SPANSCOPE_SOURCE_DIR "/resources/queries/" + name);
  const std::string json{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  query::ParseResult parsed = query::parseJson(json);
  if (!parsed.query) throw std::runtime_error("cannot read the query");
  return document::fromQuery(*parsed.query);
}

document::Document swapped(document::Document document) {
  for (const document::NodeId id : document.ids()) {
    const auto* join = document.at(id).own.as<query::Join>();
    if (join == nullptr || join->kind != query::JoinKind::Plus) continue;
    (void)document::swapChildren(document, id, 0, 1);
    break;
  }
  return document;
}

}  // namespace spanscope::test
