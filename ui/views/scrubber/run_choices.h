// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of a document that the scrubber offers to bring into view.
#pragma once

#include "ui/session/view_input.h"

#include <QDate>
#include <QString>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

/// A run of the document that can be brought into view.
struct RunChoice {
  RunId run = 0;
  QString text;           ///< "run 3 · smollm2 · spans · 12:41:07"
  QString help;           ///< what is another than of the run in view
  bool hasTrace = false;  ///< false: only its figures are left
  bool operator==(const RunChoice&) const = default;
};

/// Lists them. A step through a trace changes nothing of them unless a run begins there, so they are listed
/// again only where something that they are made of has changed.
class RunChoices {
 public:
  void follow(const ViewInput& input);
  /// The document's newest run that has begun by the position; 0: none.
  RunId shown() const { return m_shown; }
  /// The newest first; of very many the newest ones and that which is shown.
  const std::vector<RunChoice>& all() const { return m_all; }

 private:
  struct Source {
    std::shared_ptr<const RunRecords> records;
    std::shared_ptr<const TraceStore> trace;
    std::size_t events = 0;  ///< of the trace and of those of the records: they grow while runs go on
    std::size_t begun = 0;   ///< runs of the trace by the position
    std::string model;
    std::vector<RunId> own;
    QDate today;  ///< times of other days are written with the day
    bool operator==(const Source&) const = default;
  };
  static Source sourceOf(const ViewInput& input);
  void list(const ViewInput& input);

  std::optional<Source> m_source;
  RunId m_shown = 0;
  std::vector<RunChoice> m_all;
};

}  // namespace spanscope::ui
