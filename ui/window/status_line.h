// SPDX-License-Identifier: GPL-3.0-or-later
// The status line, and the strip for notices about the document's file.
#pragma once

#include "ui/session/problem_finder.h"
#include "ui/session/run_list.h"
#include "ui/session/view_input.h"
#include "ui/window/document_saver.h"

#include <QFrame>
#include <QLabel>
#include <QSettings>
#include <QStatusBar>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <QWidget>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

class QHBoxLayout;
class QToolButton;

namespace spanscope::ui {

/// The content of the status line. The line describes the newest run of the document that has started before
/// the shown time. The values come from the run's events and equal the values in the views.
struct StatusModel {
  RunId run = 0;  ///< 0: there is no such run
  std::optional<trace::RunOutcome> outcome;
  std::size_t failed = 0;       ///< failed steps while the run continues
  bool isPredicted = false;     ///< a cache simulator has predicted the run
  bool anyRan = false;          ///< any document has run in the session
  bool anyKept = false;         ///< the document has runs of earlier sessions
  std::int64_t read = 0;        ///< tokens reused or computed so far, of steps in prefill
  std::int64_t toRead = 0;      ///< all prompt tokens of these steps; 0: no step is in prefill
  std::size_t event = 0;        ///< number of events before the shown time, if an older state is shown
  std::size_t events = 0;       ///< number of all events; 0: the newest state is shown
  bool isOfSteps = false;       ///< the run has several steps, so latencies are medians
  double timeToFirstToken = 0;  ///< seconds, median over the steps of the run; 0: not known yet
  RunBasis basis;
  RunBasis previous;                    ///< the last earlier run of the same document on the same model
  double previousTimeToFirstToken = 0;  ///< seconds; 0: none
  double interTokenLatency =
      0;  ///< seconds, median over the steps of the run; 0: no step has made two tokens
  std::int64_t promptTokens = 0;
  bool hasLookups = false;  ///< the trace reports the cache lookups of the run
  std::int64_t cachedTokens = 0;
  QStringList accountWords;  ///< counts of recomputed, padding, delimiter and cropped tokens, if any
  std::size_t blocksInUse =
      0;  ///< filled blocks at the shown time, or at the end of the described run if this is earlier
  std::size_t blocks = 0;      ///< without the null block
  std::int32_t blockSize = 0;  ///< 0: no session yet
  bool operator==(const StatusModel&) const = default;
};

StatusModel makeStatusModel(const ViewInput& input);
/// The text of the left part of the status line.
QString statusText(const StatusModel& status);

/// A strip above the docks that reports a change of the document's file or policy and offers answers. The
/// strip takes no focus and stays until the user answers, so it does not interrupt typing.
class NoticeBar : public QFrame {
  Q_OBJECT
 public:
  explicit NoticeBar(QWidget* parent = nullptr);

  /// Shows a notice. An empty notice hides the strip.
  void setNotice(const Notice& notice);
  const Notice& notice() const { return m_notice; }

 Q_SIGNALS:
  void answered(spanscope::ui::NoticeAnswer answer);

 private:
  Notice m_notice;
  QLabel* m_text = nullptr;
  QHBoxLayout* m_buttons = nullptr;
};

/// The hint after the newest run: the number of cached or computed tokens, and an offer to explain this
/// number. Empty unless the run has finished, its lookups are reported and the newest state is shown.
QString runHintText(const StatusModel& status);

/// A sentence in the status bar that leads to the explanation of a run. A button removes the hint
/// permanently.
class RunHint : public QWidget {
  Q_OBJECT
 public:
  explicit RunHint(QWidget* parent = nullptr);

  /// Shows the text; hides the hint if the text is empty.
  void setText(const QString& text);
  QToolButton& link() { return *m_link; }
  QToolButton& closeButton() { return *m_close; }

 Q_SIGNALS:
  void wanted();     ///< the user asks for the explanation
  void dismissed();  ///< the user has removed the hint permanently

 private:
  QToolButton* m_link;
  QToolButton* m_close;
};

class DockHost;
class PageArea;
class Workspace;

/// The line below the docks: the newest run and the problems of the current document, messages, and a hint.
/// The hint leads to the explanation of the run.
class StatusLine : public QStatusBar {
  Q_OBJECT
 public:
  /// All arguments must outlive the line.
  StatusLine(QSettings& settings, Workspace& workspace, DockHost& docks, const PageArea& pages);

  /// Shows a text for some seconds.
  void say(const QString& text);
  /// Shows a text until the next run or message, or until its cause is gone. The cause is gone after a change
  /// of the current document or its path, or when another document is current.
  void complain(const QString& text);
  /// Removes the text of complain() if its cause is gone.
  void forgetComplaint();

  /// Shows the input of the workspace.
  void refresh();
  void refreshHint();
  /// Whether the line compares the time of the newest run with an earlier run. A lesson does not: one run is
  /// no evidence, and steps change more than one thing.
  void setComparesTimes(bool comparesTimes);
  /// Counts the problems of the document after a pause in typing.
  void countSoon() { m_countProblems.start(); }
  /// Makes the next count start without a pause, for a newly opened document.
  void countAtOnce() { m_countProblems.setInterval(0); }

 private:
  void showHint(const StatusModel& status);
  void explainRun();  ///< shows the explanation of the shown request
  void showRight();
  QString problemText();
  void countProblems();

  QSettings& m_settings;
  Workspace& m_workspace;
  DockHost& m_docks;
  const PageArea& m_pages;
  QLabel* m_status;
  RunHint* m_hint;
  QLabel* m_statusRight;
  bool m_comparesTimes = true;
  /// The state that the text of complain() is about.
  struct Complaint {
    std::uint32_t tab = 0;
    std::shared_ptr<const document::Document> document;
    QString path;
    std::optional<QString> typed;  ///< JSON text that is not a query
    bool operator==(const Complaint&) const = default;
  };
  Complaint complaintNow() const;
  std::optional<Complaint> m_complaint;                 ///< nothing: no such text is shown
  std::shared_ptr<const document::Document> m_checked;  ///< the document whose problems were counted last
  std::shared_ptr<const text::Tokenizer> m_checkedWith;
  std::uint64_t m_checkedCounts = 0;
  std::shared_ptr<const DocumentPrediction> m_checkedPrediction;
  std::optional<QString> m_checkedPath;
  std::shared_ptr<const std::vector<compute::Device>> m_checkedDevices;
  ProblemFinder m_finder;
  QString m_problems;  ///< text with the number of problems of each kind
  QTimer m_countProblems;
};

}  // namespace spanscope::ui
