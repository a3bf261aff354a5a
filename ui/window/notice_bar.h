// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/window/document_files.h"
#include "ui/window/status_model.h"

#include <QFrame>
#include <QLabel>
#include <QWidget>

class QHBoxLayout;
class QToolButton;

namespace spanscope::ui {

/// A strip above the docks that tells something about the document's file and offers what to do. It takes no
/// focus and stays until it is answered, so it does not interrupt a person who types.
class NoticeBar : public QFrame {
  Q_OBJECT
 public:
  explicit NoticeBar(QWidget* parent = nullptr);

  /// Shows a notice. Hides the strip if there is nothing to say.
  void setNotice(const FileNotice& notice);
  const FileNotice& notice() const { return m_notice; }

 Q_SIGNALS:
  void answered(spanscope::ui::FileAnswer answer);

 private:
  FileNotice m_notice;
  QLabel* m_text = nullptr;
  QHBoxLayout* m_buttons = nullptr;
};

// Leads a person who has run a query for the first time to the place that shows what happened.

/// What the hint says of the newest run: what came from the cache, and that it can be seen why. Empty unless
/// that run has finished and its end is shown.
QString runHintText(const StatusModel& status);

/// A sentence in the status bar that leads on, with a button that takes it away for good.
class RunHint : public QWidget {
  Q_OBJECT
 public:
  explicit RunHint(QWidget* parent = nullptr);

  /// Shows the sentence; hides the hint if it is empty.
  void setText(const QString& text);
  QToolButton& link() { return *m_link; }
  QToolButton& closeButton() { return *m_close; }

 Q_SIGNALS:
  void wanted();     ///< the person wants to see what happened
  void dismissed();  ///< the person does not want to be told again

 private:
  QToolButton* m_link;
  QToolButton* m_close;
};

}  // namespace spanscope::ui
