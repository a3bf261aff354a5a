// SPDX-License-Identifier: GPL-3.0-or-later
// A strip for notices about the document's file, and a hint after the first run.
#pragma once

#include "ui/window/document_files.h"
#include "ui/window/status_model.h"

#include <QFrame>
#include <QLabel>
#include <QWidget>

class QHBoxLayout;
class QToolButton;

namespace spanscope::ui {

/// A strip above the docks that reports a change of the document's file and offers answers. The strip takes
/// no focus and stays until the user answers, so it does not interrupt typing.
class NoticeBar : public QFrame {
  Q_OBJECT
 public:
  explicit NoticeBar(QWidget* parent = nullptr);

  /// Shows a notice. An empty notice hides the strip.
  void setNotice(const FileNotice& notice);
  const FileNotice& notice() const { return m_notice; }

 Q_SIGNALS:
  void answered(spanscope::ui::FileAnswer answer);

 private:
  FileNotice m_notice;
  QLabel* m_text = nullptr;
  QHBoxLayout* m_buttons = nullptr;
};

/// The hint after the newest run: the number of cached or computed tokens, and an offer to explain this
/// number. Empty unless the run has finished and the newest state is shown.
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

}  // namespace spanscope::ui
