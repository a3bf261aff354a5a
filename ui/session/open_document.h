// SPDX-License-Identifier: GPL-3.0-or-later
// A document in a tab, with what is shown of it.
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
  std::uint32_t id = 0;  ///< of the tab, never used again
  std::unique_ptr<DocumentModel> model;
  std::shared_ptr<const TraceSource> source;   ///< whose events are shown; never null
  RunId chosen = 0;                            ///< run that a person chose to see; 0: the newest
  std::map<RunId, document::NodePaths> paths;  ///< runs of this document
  Selection selection;
  SelectionHistory selected;  ///< before and after it
  QString beside;             ///< the file beside which its files are read, where it has none of its own
  std::size_t position = 0;   ///< of the scrubber
  std::size_t results = 0;    ///< results of jobs among so many events are shown, even after `position`
  bool following = true;      ///< the newest event is shown
  std::uint64_t served = 0;   ///< the request of a client that it shows; 0: none
  bool isOfLesson = false;    ///< a lesson opened it: without a change of the learner's it is not kept
  bool isPreview = false;     ///< it gives its place to the next request that is shown, unless it was used
  QString failure;            ///< why the last run could not start or failed; empty otherwise
  std::optional<RunningJob> job;  ///< about its answers, that has not ended
  AskedJobs measured;             ///< that measure it
};

using OpenDocuments = std::vector<std::unique_ptr<OpenDocument>>;

/// nullptr: the tab was closed.
inline OpenDocument* findDocument(const OpenDocuments& documents, std::uint32_t tab) {
  const auto found = std::find_if(documents.begin(), documents.end(),
                                  [tab](const auto& document) { return document->id == tab; });
  return found == documents.end() ? nullptr : found->get();
}

/// Nothing of a trace that the tab no longer shows is selected any more.
inline void forgetSelection(OpenDocument& document) {
  document.selection.request.reset();
  document.selection.block.reset();
  document.selection.token.reset();
  document.selection.physical = kNullBlock;
}

/// The query of a document that is to be run, up to where the engine goes on.
struct PreparedQuery {
  query::Node query;
  document::NodePaths paths;
  std::optional<workbench::RetrievalRequest> retrieval;  ///< of the query, where it has an augment
};

}  // namespace spanscope::ui
