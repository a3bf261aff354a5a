// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/views/common/recording.h"

#include "engine/plan/explain.h"
#include "engine/query/json/json.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/pipeline.h"
#include "engine/workbench/resource_paths.h"
#include "engine/workbench/setting_choices.h"
#include "tests/support/backends.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace spanscope::test {

namespace {

run::SessionConfig configOf(std::int32_t blockCount, std::int32_t blockSize) {
  run::SessionConfig config;
  config.blockCount = blockCount;
  config.blockSize = blockSize;
  return config;
}

}  // namespace

Recording::Recording(std::int32_t blockCount, std::int32_t blockSize)
    : m_bundle(workbench::loadModelBundle(workbench::bundledModelDirectory(), test::cpuBackends())),
      m_tokenizer(text::loadTokenizer(m_bundle.checkpoint)),
      m_recorder({.session = 1, .queueCapacity = 65536, .keepEvents = true, .clock = {}}),
      m_session(workbench::makeSession(m_bundle, configOf(blockCount, blockSize), m_recorder)),
      m_document(std::make_shared<document::Document>()) {}

void Recording::run(const document::Document& document, const policy::Policy& policy) {
  document::QueryOf query = document::toQuery(document, document::TakeOut::MutedAndFrozen);
  if (!query.query) throw std::runtime_error("the document is not complete");
  const std::string json = query::writeCanonical(*query.query);
  workbench::PipelineResult planned = workbench::runPipeline({.source = std::string_view(json)});
  if (!planned.plan) throw std::runtime_error("cannot plan the query");
  run::RunOptions options;
  options.policy = policy;
  options.layout = workbench::layoutOf(document.settings.layout);
  options.queryJson = json;
  options.explain = plan::explain(*planned.plan);
  const run::RunResult result = m_session->run(*planned.plan, options);
  if (result.outcome != trace::RunOutcome::Finished) throw std::runtime_error("the run failed");
  m_document = std::make_shared<const document::Document>(document);
  m_paths[static_cast<RunId>(m_paths.size() + 1)] = std::move(query.paths);
}

ui::ViewInput Recording::input(ui::Scheme scheme) {
  auto trace = std::make_shared<ui::TraceStore>();
  for (trace::Event& event : m_recorder.events()) trace->append(std::move(event));
  ui::ViewInput input;
  input.document = m_document;
  input.position = trace->size();
  input.trace = std::move(trace);
  input.paths = m_paths;
  input.tokenizer = m_tokenizer;
  input.theme = ui::Theme(scheme);
  return input;
}

document::Document Recording::example(const std::string& name) {
  std::ifstream file(SPANSCOPE_SOURCE_DIR "/resources/queries/" + name);
  return fromJson({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
}

document::Document Recording::fromJson(const std::string& json) {
  query::ParseResult parsed = query::parseJson(json);
  if (!parsed.query) throw std::runtime_error("cannot read the query");
  return document::fromQuery(*parsed.query);
}

RequestId lastRequest(const ui::ViewInput& input) {
  const auto& requests = input.state().progress().requests;
  return requests.empty() ? 0 : requests.rbegin()->first;
}

}  // namespace spanscope::test
