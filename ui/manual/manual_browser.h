// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/manual/manual_pages.h"
#include "ui/theme/theme.h"

#include <QTextBrowser>

namespace spanscope::ui {

/// Shows one page of the manual.
class ManualBrowser : public QTextBrowser {
  Q_OBJECT
 public:
  explicit ManualBrowser(QString folder, QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  void showPage(const ManualPage& page);
  /// Marks every place of the words, and goes to the place in `line` (as shownLine() gives it). If `line` is
  /// empty, goes to the first place.
  void mark(const QStringList& words, const QString& line);
  /// Makes the text larger or smaller by steps. The size stays from page to page.
  void zoom(int steps);

  QVariant loadResource(int type, const QUrl& name) override;

 private:
  void render();

  QString m_folder;
  Theme m_theme;
  ManualPage m_page;
  int m_zoom = 0;
};

}  // namespace spanscope::ui
