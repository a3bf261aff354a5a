// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/problem_finder.h"
#include "ui/session/view_input.h"

#include <QLabel>
#include <QSettings>
#include <QStatusBar>
#include <QTimer>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace spanscope::ui {

class DockHost;
class PageArea;
class RunHint;
struct StatusModel;
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
