// SPDX-License-Identifier: GPL-3.0-or-later
// A document in a tab, with the state that the tab shows.
#pragma once

#include "engine/workbench/document/document_query.h"
#include "engine/workbench/service/request_retrieval.h"
#include "ui/document/document_model.h"
#include "ui/session/measured_jobs.h"
#include "ui/session/selection.h"
#include "ui/session/trace_source.h"
#include "ui/session/view_input.h"

#include <QString>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// A tab.
struct OpenDocument {
  std::uint32_t id = 0;  ///< of the tab, never reused
  std::unique_ptr<DocumentModel> model;
  std::shared_ptr<const TraceSource> source;   ///< the source of the shown events; never null
  RunId chosen = 0;                            ///< the run that the user chose to see; 0: the newest
  std::map<RunId, document::NodePaths> paths;  ///< runs of this document
  Selection selection;
  SelectionHistory selected;  ///< earlier and later selections
  QString beside;  ///< a file; if the document has no file, its files are read from the folder of `beside`
  std::size_t position = 0;       ///< of the scrubber
  std::size_t results = 0;        ///< results of jobs are shown up to this event, even after `position`
  bool following = true;          ///< the newest event is shown
  std::uint64_t served = 0;       ///< the shown request of a client; 0: none
  bool isOfLesson = false;        ///< a lesson opened the document; the lesson discards an unchanged document
  bool isSetAside = false;        ///< hidden while a lesson is open
  bool isPreview = false;         ///< the next shown request replaces an unused preview
  QString failure;                ///< the reason why the last run could not start or failed; else empty
  std::optional<RunningJob> job;  ///< the unfinished job about the document's answers
  AskedJobs measured;             ///< the jobs that measure the document
};

using OpenDocuments = std::vector<std::unique_ptr<OpenDocument>>;

/// Returns nullptr if the tab was closed.
inline OpenDocument* findDocument(const OpenDocuments& documents, std::uint32_t tab) {
  const auto found = std::find_if(documents.begin(), documents.end(),
                                  [tab](const auto& document) { return document->id == tab; });
  return found == documents.end() ? nullptr : found->get();
}

/// Clears the selection of everything in a trace that the tab no longer shows.
inline void forgetSelection(OpenDocument& document) {
  document.selection.request.reset();
  document.selection.block.reset();
  document.selection.token.reset();
  document.selection.physical = kNullBlock;
}

/// The query of a document after all stages before retrieval. The engine does the other stages.
struct PreparedQuery {
  query::Node query;
  document::NodePaths paths;
  std::optional<workbench::RetrievalRequest> retrieval;  ///< for a query with an augment
};

}  // namespace spanscope::ui
