// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of a document that the scrubber offers to show.
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

/// A run of the document that can be shown.
struct RunChoice {
  RunId run = 0;
  QString text;           ///< "run 3 · smollm2 · spans · 12:41"
  QString help;           ///< how it differs from the shown run
  bool hasTrace = false;  ///< false: only its figures are left
  bool operator==(const RunChoice&) const = default;
};

/// Lists these runs. A step through a trace changes the list only if a run begins there. So the runs are
/// listed again only if something on which the list depends has changed.
class RunChoices {
 public:
  void follow(const ViewInput& input);
  /// The document's newest run that has begun by the position; 0: none.
  RunId shown() const { return m_shown; }
  /// The runs, the newest first. If there are very many, only the newest ones and the shown one.
  const std::vector<RunChoice>& all() const { return m_all; }

 private:
  struct Source {
    std::shared_ptr<const RunRecords> records;
    std::shared_ptr<const TraceStore> trace;
    std::size_t events = 0;  ///< events of the trace and of the records' traces; they grow while runs go on
    std::size_t begun = 0;   ///< runs of the trace that have begun by the position
    std::string model;
    std::vector<RunId> own;
    QDate today;  ///< labels of runs from other days hold the date
    bool operator==(const Source&) const = default;
  };
  static Source sourceOf(const ViewInput& input);
  void list(const ViewInput& input);

  std::optional<Source> m_source;
  RunId m_shown = 0;
  std::vector<RunChoice> m_all;
};

}  // namespace spanscope::ui
