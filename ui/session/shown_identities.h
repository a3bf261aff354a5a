// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/open_document.h"
#include "ui/session/segment_identities.h"
#include "ui/session/view_input.h"

#include <QObject>
#include <QTimer>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace spanscope::ui {

/// Keeps the identities of the input up to date. While the user types, the identities change only after a
/// pause in typing.
class ShownIdentities : public QObject {
  Q_OBJECT
 public:
  /// Both arguments must outlive this object.
  ShownIdentities(ViewInput& input, const OpenDocuments& documents);

  /// Call this function when the document, its texts, runs or paths have changed. `tab` 0: no tab.
  void update(std::uint32_t tab);

 Q_SIGNALS:
  void changed();  ///< the identities have changed after a pause in typing

 private:
  bool isTyped() const;
  void read();

  ViewInput& m_input;
  const OpenDocuments& m_documents;
  SegmentRecords m_book;
  std::uint32_t m_tab = 0;  ///< tab of the document in the input
  /// The source of the identities in the input.
  struct Source {
    std::uint32_t tab = 0;
    std::shared_ptr<const document::Document> document;
    std::shared_ptr<const TraceStore> trace;
    std::size_t runs = 0;
    std::size_t ownRuns = 0;
  };
  Source m_source;
  QTimer m_typing;  ///< runs while the user types
};

}  // namespace spanscope::ui
