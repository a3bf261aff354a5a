// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/problem_finder.h"

#include "engine/base/error.h"
#include "engine/model/config.h"
#include "engine/query/files/file_access.h"
#include "engine/workbench/run_options.h"
#include "ui/session/run_inputs.h"

#include <QDir>
#include <QFileInfo>

#include <utility>
#include <variant>

namespace spanscope::ui {

std::vector<Problem> ProblemFinder::find(const document::Document& document,
                                         const std::shared_ptr<const text::Tokenizer>& tokenizer,
                                         const std::shared_ptr<TokenCounts>& counts,
                                         const std::vector<compute::Device>* devices,
                                         const std::optional<QString>& path, document::NodeId top,
                                         const DocumentPrediction* prediction) {
  m_counts = countsOf(tokenizer, counts ? counts : m_counts);
  ProblemContext context;
  // A server has its own model and device. Problems of the model and the device on this machine do not affect
  // it.
  const bool isHere = !document::goesOnlyToServers(document);
  if (isHere) context.devices = devices;
  if (path) {
    if (isHere) {
      context.modelProblem = modelOf(document.settings).reason;
      context.guessedTemplate = modelOf(document.settings).guessedTemplate;
    }
    context.fileReason = [this, &path](const std::string& file, document::FileUse use) {
      return use == document::FileUse::Text ? fileReason(*path, file) : documentsReason(*path, file);
    };
  }
  if (tokenizer != nullptr && isHere) {
    // Uncounted texts count as 0 tokens, so a prompt has at least this many tokens.
    context.countTokens = [this](const std::string& text) { return m_counts->count(text).value_or(0); };
    context.contextLength = modelOf(document.settings).contextLength;
  }
  if (prediction != nullptr && path && isHere) {
    // Only the prediction has read everything that is read when the model is opened.
    if (!context.modelProblem && prediction->modelError && prediction->model == document.settings.model)
      context.modelProblem = workbench::ModelProblem{.error = *prediction->modelError};
    if (prediction->isKnown()) context.fit = &prediction->fit;
  }
  return findProblems(document, context, top);
}

std::optional<query::NotGiven> ProblemFinder::documentsReason(const QString& documentPath,
                                                              const std::string& path) {
  const QString name = QString::fromStdString(path);
  const bool isList =
      query::isPathPattern(path) || QFileInfo(QFileInfo(documentPath).absoluteDir(), name).isDir();
  if (isList && !documentPath.isEmpty()) return std::nullopt;
  auto listed = RunInputs(documentPath, {}).listFiles(path);
  auto* reason = std::get_if<query::NotGiven>(&listed);
  return reason == nullptr ? std::nullopt : std::optional(std::move(*reason));
}

std::optional<query::NotGiven> ProblemFinder::fileReason(const QString& documentPath,
                                                         const std::string& path) {
  if (std::exchange(m_seenFor, documentPath) != documentPath) m_seen.clear();
  const QFileInfo info(QFileInfo(documentPath).absoluteDir(), QString::fromStdString(path));
  const auto known = m_seen.find(path);
  if (known != m_seen.end() && known->second.written == info.lastModified() &&
      known->second.size == info.size())
    return known->second.reason;
  RunInputs inputs(documentPath, {});
  const auto text = query::readTextFile(inputs, path);
  const auto* reason = std::get_if<query::NotGiven>(&text);
  SeenFile& seen = m_seen[path];
  seen = {.written = info.lastModified(),
          .size = info.size(),
          .reason = reason == nullptr ? std::nullopt : std::optional(*reason)};
  return seen.reason;
}

const ProblemFinder::SeenModel& ProblemFinder::modelOf(const workbench::RunSettings& settings) {
  const QDateTime written = QFileInfo(QString::fromStdString(settings.model)).lastModified();
  const bool isSame = m_model.checkpoint == settings.model && m_model.chatTemplate == settings.chatTemplate &&
                      m_model.templateVariables == settings.templateVariables &&
                      m_model.context == settings.context && m_model.written == written;
  if (isSame) return m_model;
  m_model = {.checkpoint = settings.model,
             .chatTemplate = settings.chatTemplate,
             .templateVariables = settings.templateVariables,
             .context = settings.context,
             .written = written,
             .reason = workbench::modelProblem(settings),
             .guessedTemplate = workbench::guessedTemplate(settings)};
  if (m_model.reason && !m_model.reason->isOfTemplate) return m_model;
  try {
    model::ModelConfig config = model::readConfig(workbench::modelDirectoryOf(settings));
    if (settings.context > 0) model::fixContext(config, settings.context);
    m_model.contextLength = config.maxPositions;
  } catch (const Failure&) {
    // The model was readable a moment ago. The next search reports its problem.
  }
  return m_model;
}

}  // namespace spanscope::ui
