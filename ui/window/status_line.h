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

/// The line below the docks: the newest run of the current document, its problems, a hint where a run is
/// explained, and messages.
class StatusLine : public QStatusBar {
  Q_OBJECT
 public:
  /// All must outlive the line.
  StatusLine(QSettings& settings, Workspace& workspace, DockHost& docks, const PageArea& pages);

  /// Shows a text for some seconds.
  void say(const QString& text);
  /// Shows a text until the next run or message, or until what it speaks of is gone: the document in view has
  /// another value or place, or is not in view any more.
  void complain(const QString& text);
  /// Takes a complaint away where what it speaks of is gone.
  void forgetComplaint();

  /// Shows the input of the workspace.
  void refresh();
  void refreshHint();
  /// Counts the problems of the document; with the next frame where another document was opened.
  void countSoon() { m_countProblems.start(); }
  void countAtOnce() { m_countProblems.setInterval(0); }

 private:
  void showHint(const StatusModel& status);
  void explainRun();  ///< shows where the newest answer came from
  QString problemText();
  void countProblems();

  QSettings& m_settings;
  Workspace& m_workspace;
  DockHost& m_docks;
  const PageArea& m_pages;
  QLabel* m_status;
  RunHint* m_hint;
  QLabel* m_statusRight;
  /// What a complaint in the status bar speaks of.
  struct Complaint {
    std::uint32_t tab = 0;
    std::shared_ptr<const document::Document> document;
    QString path;
    std::optional<QString> typed;  ///< JSON text that is no query
    bool operator==(const Complaint&) const = default;
  };
  Complaint complaintNow() const;
  std::optional<Complaint> m_complaint;                 ///< nothing: no complaint is shown
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
