// SPDX-License-Identifier: GPL-3.0-or-later
// Leads a person who has run a query for the first time to the place that shows what happened.
#pragma once

#include "ui/window/status_model.h"

#include <QWidget>

class QToolButton;

namespace spanscope::ui {

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
