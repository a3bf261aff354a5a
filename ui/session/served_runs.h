// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"
#include "engine/workbench/document/document_query.h"
#include "ui/session/open_document.h"
#include "ui/session/run_traces.h"
#include "ui/session/serving.h"

#include <QObject>
#include <QString>

#include <cstdint>
#include <map>

namespace spanscope::ui {

/// The runs that clients request from the window's engine. These runs belong to the engine's session. A
/// request is shown as a separate document.
class ServedRuns : public QObject {
  Q_OBJECT
 public:
  /// All references must outlive this object.
  ServedRuns(EngineHost& engine, const OpenDocuments& documents, RunTraces& traces);

  Serving& serving() { return m_serving; }
  const Serving& serving() const { return m_serving; }
  /// Returns the document of a request. `paths` gets the nodes of the request's query.
  document::Document documentOf(const ServedEntry& entry, document::NodePaths& paths) const;
  static QString titleOf(std::uint64_t request);
  /// Whether the document has only runs of its own request.
  bool hasOnlyRunsOfItsRequest(const OpenDocument& document) const;

 private:
  void takeServedStart(const trace::Event& event);

  const OpenDocuments& m_documents;
  RunTraces& m_traces;
  Serving m_serving;
  std::map<RunId, std::uint64_t> m_servedRuns;  ///< runs of clients, with the numbers of their requests
};

}  // namespace spanscope::ui
