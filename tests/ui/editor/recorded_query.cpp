// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/editor/recorded_query.h"

#include "engine/query/json/json.h"
#include "engine/run/run_options.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/pipeline.h"
#include "engine/workbench/resource_paths.h"
#include "engine/workbench/setting_choices.h"
#include "tests/support/backends.h"
#include "ui/session/document_predictor.h"
#include "ui/session/run_inputs.h"

#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <utility>

namespace spanscope::test {

document::Document documentFromJson(const std::string& json) {
  query::ParseResult parsed = query::parseJson(json);
  if (!parsed.query) throw std::runtime_error("cannot read the query");
  return document::fromQuery(*parsed.query);
}

document::Document exampleDocument(const std::string& name) {
  std::ifstream file(SPANSCOPE_QUERY_DIR + name);
  return documentFromJson({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
}

document::NodeId nodeAtPath(const document::Document& document, const NodePath& path) {
  const document::QueryOf query = document::toQuery(document, document::TakeOut::Nothing);
  const auto found = query.paths.byPath.find(path);
  return found == query.paths.byPath.end() ? document::kNoNode : found->second;
}

QueryRecorder::QueryRecorder()
    : m_bundle(workbench::loadModelBundle(workbench::bundledModelDirectory(), test::cpuBackends())),
      m_tokenizer(text::loadTokenizer(workbench::bundledModelDirectory())),
      m_recorder({.session = 1, .queueCapacity = 65536, .keepEvents = true, .clock = {}}),
      m_session(workbench::makeSession(m_bundle, {}, m_recorder)),
      m_document(std::make_shared<document::Document>()) {}

void QueryRecorder::run(const document::Document& document) {
  document::QueryOf query = document::toQuery(document, document::TakeOut::MutedAndFrozen);
  if (!query.query) throw std::runtime_error("the document is not complete");
  run::RunOptions options;
  options.policy = workbench::policyOf(document.settings.policy);
  options.layout = workbench::layoutOf(document.settings.layout);
  options.queryJson = query::writeCanonical(*query.query);
  for (std::int32_t layer = 0; layer < m_bundle.config.layers; ++layer)
    options.observedLayers.push_back(layer);
  const workbench::PipelineResult planned =
      workbench::runPipeline({.source = std::string_view(options.queryJson)});
  if (!planned.plan) throw std::runtime_error("cannot plan the query");
  (void)m_session->run(*planned.plan, options);
  m_document = std::make_shared<const document::Document>(document);
  m_paths[static_cast<RunId>(m_paths.size() + 1)] = std::move(query.paths);
}

std::shared_ptr<const ui::DocumentPrediction> QueryRecorder::predict(const document::Document& document) {
  document::QueryOf query = document::toQuery(document, document::TakeOut::MutedAndFrozen);
  if (!query.query) throw std::runtime_error("the document is not complete");
  ui::PredictionRequest request;
  request.id = 1;
  request.query = std::move(*query.query);
  request.paths = std::move(query.paths);
  request.settings = document.settings;
  request.surroundings = std::make_shared<ui::RunInputs>(QString(), nullptr);
  const std::optional<ui::DocumentPrediction> made =
      ui::DocumentPredictor().predict(request, m_session.get(), &m_bundle, std::stop_token());
  if (!made || !made->isKnown()) throw std::runtime_error("nothing can be said of the query");
  return std::make_shared<const ui::DocumentPrediction>(*made);
}

ui::ViewInput QueryRecorder::input(bool withTokenizer) const {
  ui::ViewInput input = inputAt(m_recorder.events().size());
  if (withTokenizer) input.tokenizer = m_tokenizer;
  return input;
}

ui::ViewInput QueryRecorder::inputAt(std::size_t count) const {
  auto trace = std::make_shared<ui::TraceStore>();
  for (trace::Event& event : m_recorder.events()) trace->append(std::move(event));
  ui::ViewInput input;
  input.document = m_document;
  input.position = std::min(count, trace->size());
  input.trace = std::move(trace);
  input.paths = m_paths;
  return input;
}

}  // namespace spanscope::test
