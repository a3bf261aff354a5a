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

/// The runs that clients ask of the window's engine: they are runs of its session, and a request is shown as
/// a document of its own.
class ServedRuns : public QObject {
  Q_OBJECT
 public:
  /// All must outlive it.
  ServedRuns(EngineHost& engine, const OpenDocuments& documents, RunTraces& traces);

  Serving& serving() { return m_serving; }
  const Serving& serving() const { return m_serving; }
  /// A document of a request, and the nodes of its query.
  document::Document documentOf(const ServedEntry& entry, document::NodePaths& paths) const;
  static QString titleOf(std::uint64_t request);
  /// Whether runs of a document are those of its request alone.
  bool hasOnlyRunsOfItsRequest(const OpenDocument& document) const;

 private:
  void takeServedStart(const trace::Event& event);

  const OpenDocuments& m_documents;
  RunTraces& m_traces;
  Serving m_serving;
  std::map<RunId, std::uint64_t> m_servedRuns;  ///< runs of clients, with the numbers of their requests
};

}  // namespace spanscope::ui
