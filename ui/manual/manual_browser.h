// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/manual/manual_pages.h"
#include "ui/theme/theme.h"

#include <QTextBrowser>

class QTextDocument;

namespace spanscope::ui {

/// Shows one page of the manual.
class ManualBrowser : public QTextBrowser {
  Q_OBJECT
 public:
  explicit ManualBrowser(QString folder, QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  void showPage(const ManualPage& page);
  /// Highlights every place of the words on this page and on the pages that are shown later. An empty list
  /// ends that.
  void highlight(const QStringList& words);
  /// Scrolls to the first highlighted word of the hit. Its page must be shown.
  void goTo(const ManualHit& hit);
  /// Makes the text larger or smaller by steps. The size stays from page to page.
  void zoom(int steps);

  QVariant loadResource(int type, const QUrl& name) override;

 private:
  void render();
  void showHighlights();

  QString m_folder;
  Theme m_theme;
  ManualPage m_page;
  QStringList m_words;  ///< highlighted
  int m_zoom = 0;
};

/// Applies the fonts, colours and distances of the theme to a page that Qt has read from Markdown. Gives each
/// heading its anchor. Call it once for each page. `larger` makes every font that many pixels larger.
void styleManual(QTextDocument& page, const Theme& theme, int larger = 0);

}  // namespace spanscope::ui
