// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/request_retrieval.h"

#include <utility>

namespace spanscope::workbench {

PipelineInput RequestRetrieval::input(RetrievalRequest& asked, const std::shared_ptr<ModelBundle>& model,
                                      retrieve::Watch watch) {
  if (!m_retrieval || m_file != m_wantedFile) {
    RetrievalSettings settings;
    settings.indexFile = m_wantedFile;
    m_retrieval.emplace(std::move(settings), m_backends);
    m_file = m_wantedFile;
  }
  m_retrieval->useModel(model);
  m_retrieval->useEmbeddings(asked.embeddings);
  return {.source = std::move(asked.query),
          .from = Stage::Retrieve,
          .surroundings = asked.files.get(),
          .retrieval = &*m_retrieval,
          .passages = std::move(asked.options),
          .watch = std::move(watch),
          .plan = std::move(asked.planOptions)};
}

}  // namespace spanscope::workbench
