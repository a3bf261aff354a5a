// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/retrieval.h"

#include "engine/base/error.h"
#include "engine/retrieve/decoder_embedder.h"
#include "engine/workbench/resource_paths.h"
#include "engine/workbench/session_summarizer.h"

#include <utility>

namespace spanscope::workbench {
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
      m_embedder = std::make_unique<retrieve::DecoderEmbedder>(*model.decoder, *model.backend,
                                                               *model.tokenizer, model.fingerprint);
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

}  // namespace spanscope::workbench
