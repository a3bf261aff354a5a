// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/request_retrieval.h"

#include "ui/words/tr.h"

namespace spanscope::ui {

workbench::PipelineInput RequestRetrieval::input(RetrievalRequest& asked,
                                                 const std::shared_ptr<workbench::ModelBundle>& model,
                                                 retrieve::Watch watch) {
  if (!m_retrieval || m_file != m_wantedFile) {
    workbench::RetrievalSettings settings;
    settings.indexFile = m_wantedFile;
    m_retrieval.emplace(std::move(settings), m_backends);
    m_file = m_wantedFile;
  }
  m_retrieval->useModel(model);
  m_retrieval->useEmbeddings(asked.embeddings);
  return {.source = std::move(asked.query),
          .from = workbench::Stage::Retrieve,
          .surroundings = asked.files.get(),
          .retrieval = &*m_retrieval,
          .fragments = std::move(asked.options),
          .watch = std::move(watch),
          .plan = std::move(asked.planOptions)};
}

QString progressText(const retrieve::IndexProgress& now) {
  switch (now.phase) {
    case retrieve::IndexPhase::Documents:
      return tr("Indexing: %1 of %2 documents, %3 new").arg(now.done).arg(now.total).arg(now.added);
    case retrieve::IndexPhase::Summaries:
      return tr("Summing up: %1 of %2 summaries").arg(now.done).arg(now.total);
    case retrieve::IndexPhase::Vectors:
      return tr("Embedding: %1 of %2 fragments").arg(now.done).arg(now.total);
  }
  return {};
}

}  // namespace spanscope::ui
