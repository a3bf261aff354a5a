// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/window/document_files.h"

#include <QFrame>
#include <QLabel>

class QHBoxLayout;

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

}  // namespace spanscope::ui
