// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/retrieval.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/plan/planner.h"
#include "engine/retrieve/decoder_embedder.h"
#include "engine/run/run_result.h"
#include "engine/run/session.h"
#include "engine/trace/sink.h"
#include "engine/workbench/resource_paths.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace spanscope::workbench {

/// Writes summaries with a loaded model. A call makes one plan with a generation step for each group, so that
/// the steps share forward passes. The session has its own cache, so the cache for runs does not change.
class SessionSummarizer final : public retrieve::Summarizer {
 public:
  /// The model must outlive the summarizer, and nothing else may use it at the same time. Throws Failure if
  /// the session's cache cannot be allocated.
  explicit SessionSummarizer(ModelBundle& model);

  std::string fingerprint() const override;
  std::size_t groupSize() const override { return 4; }
  /// Generates greedily, so that equal texts have equal summaries. Throws Failure for texts that do not fit
  /// into the model's context.
  std::vector<std::string> summarize(std::span<const std::vector<std::string>> groups,
                                     std::stop_token stop) override;

 private:
  /// Drops all events, because summaries are not runs of the user.
  class NoEvents final : public trace::Sink {
   public:
    std::uint64_t send(RunId, RequestId, const NodePath&, trace::Payload) override { return ++m_count; }

   private:
    std::uint64_t m_count = 0;
  };

  ModelBundle& m_model;
  NoEvents m_sink;
  std::unique_ptr<run::Session> m_session;
};

namespace {

using query::Node;

constexpr std::int32_t kMaxTokens = 96;
/// Blocks of the session's cache: enough for the groups of a call with passages of the usual size.
constexpr std::int32_t kBlocks = 1024;
constexpr const char* kTask = "Write a short summary of the texts. Keep names, places, numbers and dates.";

Node message(query::Role role, std::string text) {
  return {query::Message{.role = role, .text = std::move(text)}};
}

/// Returns the prompt of one group. The texts do not attend to each other.
Node promptOf(const std::vector<std::string>& texts) {
  query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
  for (const std::string& text : texts) plus.children.push_back(message(query::Role::User, text));
  query::Join cross{.kind = query::JoinKind::Cross, .children = {}};
  cross.children.push_back(message(query::Role::System, kTask));
  cross.children.push_back(Node{std::move(plus)});
  cross.children.push_back(message(query::Role::User, kTask));
  return {std::move(cross)};
}

}  // namespace

SessionSummarizer::SessionSummarizer(ModelBundle& model) : m_model(model) {
  run::SessionConfig config;
  config.blockCount = kBlocks;
  m_session = makeSession(model, config, m_sink);
}

std::string SessionSummarizer::fingerprint() const {
  std::string text = "summary;";
  text += kTask;
  text += ";tokens=" + std::to_string(kMaxTokens);
  text += ";model=" + m_model.fingerprint;
  text += ";backend=" + m_model.backend->info().numericRevision;
  return text;
}

std::vector<std::string> SessionSummarizer::summarize(std::span<const std::vector<std::string>> groups,
                                                      std::stop_token stop) {
  query::Join par{.kind = query::JoinKind::Par, .children = {}};
  for (const std::vector<std::string>& texts : groups) {
    query::Generate generate;
    generate.settings.model = m_model.name;
    generate.settings.maxTokens = kMaxTokens;
    generate.settings.temperature = 0.0F;
    generate.input = promptOf(texts);
    par.children.push_back(Node{std::move(generate)});
  }
  plan::PlanResult planned = plan::makePlan(Node{std::move(par)}, {});
  if (!planned.plan) throw Failure(planned.problems.front());
  const run::RunResult result = m_session->run(*planned.plan, {}, std::move(stop));
  if (result.error) throw Failure(*result.error);
  if (result.outcome == trace::RunOutcome::Stopped) return {};
  std::vector<std::string> summaries;
  for (const run::StepResult& step : result.steps) summaries.push_back(step.text);
  if (summaries.size() != groups.size()) {
    throw Failure({{},
                   "summaries",
                   counted(summaries.size(), "answer"),
                   std::to_string(groups.size()) + ", one for each group"});
  }
  return summaries;
}

namespace {

std::filesystem::path directoryOf(const RetrievalSettings& settings) {
  return settings.modelDirectory.empty() ? bundledModelDirectory() : settings.modelDirectory;
}

/// Whether a server's name for a model ("spnl/spanlet") means the model of a directory.
bool names(const std::string& name, const std::filesystem::path& directory) {
  const std::string own =
      (directory.has_filename() ? directory : directory.parent_path()).filename().string();
  return !own.empty() && name.substr(name.rfind('/') + 1) == own;
}

}  // namespace

Retrieval::Retrieval(RetrievalSettings settings, compute::Backends backends)
    : m_settings(std::move(settings)), m_backends(std::move(backends)) {}

ModelBundle& Retrieval::neededModel() {
  if (m_model == nullptr)
    m_model =
        std::make_shared<ModelBundle>(loadModelBundle(directoryOf(m_settings), m_backends, m_settings.model));
  return *m_model;
}

void Retrieval::useModel(std::shared_ptr<ModelBundle> model) {
  if (model == m_model) return;
  m_embedder.reset();
  m_summarizer.reset();
  m_tokenizer.reset();
  m_model = std::move(model);
  m_settings.modelDirectory = m_model->checkpoint.path();
}

void Retrieval::useEmbeddings(const std::optional<remote::EmbeddingsServer>& server) {
  if (server == m_settings.embeddings) return;
  m_embedder.reset();
  m_settings.embeddings = server;
}

retrieve::ResolvedAugments Retrieval::resolve(const query::Node& query,
                                              const retrieve::RetrievalOptions& options,
                                              query::Surroundings* files, const retrieve::Watch& watch) {
  retrieve::ResolvedAugments result;
  if (!retrieve::hasAugment(query)) {
    result.query = query;
    return result;
  }
  try {
    if (m_model == nullptr && m_tokenizer == nullptr)
      m_tokenizer = text::loadTokenizer(directoryOf(m_settings));
    if (!m_index) m_index.emplace(m_settings.indexFile);
  } catch (const Failure& failure) {
    query::Diagnostic problem;
    problem.found = "an augment, and " + failure.error().file + ": " + failure.error().found;
    problem.expected = failure.error().expected;
    result.diagnostics.push_back(std::move(problem));
    return result;
  }
  retrieve::RetrievalTools tools;
  tools.tokenizer = m_model != nullptr ? m_model->tokenizer.get() : m_tokenizer.get();
  tools.index = &*m_index;
  tools.files = files;
  tools.watch = watch;
  tools.isEmbedder = [this](const std::string& name) {
    return m_settings.embeddings ? !name.empty() && name == m_settings.embeddings->model
                                 : names(name, directoryOf(m_settings));
  };
  tools.embedder = [this]() -> retrieve::Embedder& {
    if (m_settings.embeddings) {
      if (m_embedder == nullptr)
        m_embedder = std::make_unique<remote::EmbeddingsClient>(*m_settings.embeddings);
      return *m_embedder;
    }
    ModelBundle& model = neededModel();
    if (m_embedder == nullptr) {
      m_embedder = std::make_unique<retrieve::DecoderEmbedder>(
          *model.decoder, *model.backend, *model.tokenizer, model.fingerprint,
          text::finalTokenOf(model.checkpoint, *model.tokenizer),
          retrieve::embeddingPromptsOf(model.checkpoint));
    }
    return *m_embedder;
  };
  tools.summarizer = [this]() -> retrieve::Summarizer& {
    ModelBundle& model = neededModel();
    if (m_summarizer == nullptr) m_summarizer = std::make_unique<SessionSummarizer>(model);
    return *m_summarizer;
  };
  return retrieve::resolveAugments(query, options, tools);
}

namespace {

trace::PassageRanking rankingOf(retrieve::Ranking ranking) {
  switch (ranking) {
    case retrieve::Ranking::Embedding:
      return trace::PassageRanking::Embedding;
    case retrieve::Ranking::Hybrid:
      return trace::PassageRanking::Hybrid;
    case retrieve::Ranking::Lexical:
      break;
  }
  return trace::PassageRanking::Lexical;
}

trace::PassageInfo infoOf(const retrieve::FoundPassage& found) {
  const retrieve::Passage& passage = found.ranked.passage;
  const retrieve::Placing lexical = found.ranked.lexical.value_or(retrieve::Placing{});
  const retrieve::Placing embedding = found.ranked.embedding.value_or(retrieve::Placing{});
  return {.hash = passage.hash,
          .source = found.source,
          .place = passage.place,
          .level = passage.level,
          .text = passage.text,
          .rank = static_cast<std::uint32_t>(found.rank),
          .score = passage.score,
          .lexicalRank = static_cast<std::uint32_t>(lexical.rank),
          .lexicalScore = lexical.score,
          .embeddingRank = static_cast<std::uint32_t>(embedding.rank),
          .embeddingScore = embedding.score,
          .pinned = found.isPinned,
          .dropped = found.isDropped,
          .inPrompt = found.isInPrompt};
}

}  // namespace

std::vector<run::RetrievalReport> retrievalReports(const std::vector<retrieve::Retrieved>& retrieved,
                                                   const std::vector<query::Diagnostic>& diagnostics) {
  std::vector<run::RetrievalReport> reports;
  for (const retrieve::Retrieved& one : retrieved) {
    run::RetrievalReport& report = reports.emplace_back();
    report.node = one.node;
    report.found.question = one.question;
    report.found.ranking = rankingOf(one.ranking);
    report.found.documents = one.documents;
    for (const retrieve::FoundPassage& found : one.passages) report.found.passages.push_back(infoOf(found));
    for (const query::Diagnostic& diagnostic : diagnostics) {
      if (diagnostic.pointer == one.node) report.warnings.push_back(diagnostic.message());
    }
  }
  return reports;
}

}  // namespace spanscope::workbench
