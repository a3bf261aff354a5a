// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/manual/manual_window.h"

#include "ui/manual/manual_browser.h"

#include <QDesktopServices>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QScrollBar>
#include <QShortcut>
#include <QSplitter>
#include <QToolButton>
#include <QTreeWidget>
#include <QUrl>
#include <QVBoxLayout>

#include <utility>

namespace spanscope::ui {
namespace {

constexpr QSize kSize(1180, 820);
constexpr int kSideWidth = 240;
constexpr int kPathRole = Qt::UserRole;
constexpr std::size_t kMostHits = 300;

QToolButton* barButton(const QString& sign, const QString& name, const QString& tip) {
  auto* button = new QToolButton;
  button->setText(sign);
  button->setAutoRaise(true);
  button->setAccessibleName(name);
  button->setToolTip(tip);
  return button;
}

}  // namespace

ManualWindow::ManualWindow(const QString& folder, QWidget* parent)
    : QWidget(parent, Qt::Window), m_pages(readManual(folder)) {
  setObjectName(QStringLiteral("manual"));
  setWindowTitle(tr("Manual"));
  setAttribute(Qt::WA_StyledBackground);
  m_browser = new ManualBrowser(folder);
  connect(m_browser, &QTextBrowser::anchorClicked, this, &ManualWindow::follow);
  auto* right = new QWidget;
  auto* column = new QVBoxLayout(right);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(makeBar());
  column->addWidget(m_browser, 1);
  auto* splitter = new QSplitter;
  splitter->setHandleWidth(1);
  splitter->addWidget(makeSide());
  splitter->addWidget(right);
  splitter->setStretchFactor(1, 1);
  splitter->setSizes({kSideWidth, kSize.width() - kSideWidth});
  splitter->setChildrenCollapsible(false);
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->addWidget(splitter);
  fillContents();
  addShortcuts();
  resize(kSize);
  setTheme(Theme());
  openPage(QString::fromLatin1(kManualIndex));
  m_browser->setFocus();
}

QWidget* ManualWindow::makeSide() {
  m_search = new QLineEdit;
  m_search->setPlaceholderText(tr("Search all pages (Ctrl+F)"));
  m_search->setAccessibleName(tr("Search all pages"));
  m_search->setClearButtonEnabled(true);
  m_search->installEventFilter(this);
  connect(m_search, &QLineEdit::textChanged, this, &ManualWindow::search);
  connect(m_search, &QLineEdit::returnPressed, this, [this] { openHit(std::max(0, m_found->currentRow())); });

  m_count = new QLabel;
  m_count->setFont(Theme().smallFont());
  m_count->hide();

  m_contents = new QTreeWidget;
  m_contents->setAccessibleName(tr("Pages of the manual"));
  m_contents->setHeaderHidden(true);
  m_contents->setRootIsDecorated(false);
  m_contents->setIndentation(3 * kSpace);
  m_contents->setUniformRowHeights(true);
  connect(m_contents, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* item) {
    const QString path = item == nullptr ? QString() : item->data(0, kPathRole).toString();
    if (!path.isEmpty() && path != m_page) openPage(path);
  });

  m_found = new QListWidget;
  m_found->setAccessibleName(tr("Lines that were found"));
  m_found->setWordWrap(true);
  m_found->setSpacing(1);
  m_found->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_found->setSelectionMode(QAbstractItemView::SingleSelection);
  m_found->hide();
  connect(m_found, &QListWidget::itemActivated, this,
          [this](QListWidgetItem* item) { openHit(m_found->row(item)); });
  connect(m_found, &QListWidget::itemClicked, this,
          [this](QListWidgetItem* item) { openHit(m_found->row(item)); });

  auto* side = new QWidget;
  side->setMinimumWidth(200);
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(2 * kSpace, 2 * kSpace, 2 * kSpace, 2 * kSpace);
  column->setSpacing(2 * kSpace);
  column->addWidget(m_search);
  column->addWidget(m_count);
  column->addWidget(m_contents, 1);
  column->addWidget(m_found, 1);
  return side;
}

QWidget* ManualWindow::makeBar() {
  m_back = barButton(QStringLiteral("←"), tr("Back"), tr("Back (Alt+Left)"));
  m_forward = barButton(QStringLiteral("→"), tr("Forward"), tr("Forward (Alt+Right)"));
  QToolButton* home = barButton(tr("Contents"), tr("Contents"), tr("The first page (F1)"));
  connect(m_back, &QToolButton::clicked, this, &ManualWindow::goBack);
  connect(m_forward, &QToolButton::clicked, this, &ManualWindow::goForward);
  connect(home, &QToolButton::clicked, this, [this] { openPage(QString::fromLatin1(kManualIndex)); });
  m_title = new QLabel;
  m_title->setFont(Theme().titleFont());
  auto* bar = new QWidget;
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(2 * kSpace, kSpace, 2 * kSpace, kSpace);
  row->setSpacing(kSpace);
  row->addWidget(m_back);
  row->addWidget(m_forward);
  row->addWidget(home);
  row->addSpacing(2 * kSpace);
  row->addWidget(m_title, 1);
  return bar;
}

void ManualWindow::addShortcuts() {
  const auto add = [this](const QKeySequence& key, auto act) {
    connect(new QShortcut(key, this), &QShortcut::activated, this, act);
  };
  add(QKeySequence(QStringLiteral("Ctrl+F")), [this] {
    m_search->setFocus();
    m_search->selectAll();
  });
  add(QKeySequence(QStringLiteral("Alt+Left")), [this] { goBack(); });
  add(QKeySequence(QStringLiteral("Alt+Right")), [this] { goForward(); });
  add(QKeySequence(QStringLiteral("F1")), [this] { openPage(QString::fromLatin1(kManualIndex)); });
  add(QKeySequence(QStringLiteral("Ctrl++")), [this] { m_browser->zoom(1); });
  add(QKeySequence(QStringLiteral("Ctrl+=")), [this] { m_browser->zoom(1); });
  add(QKeySequence(QStringLiteral("Ctrl+-")), [this] { m_browser->zoom(-1); });
  add(QKeySequence(QStringLiteral("Ctrl+W")), [this] { close(); });
}

void ManualWindow::fillContents() {
  QTreeWidgetItem* section = nullptr;
  for (const ManualPage& page : m_pages) {
    if (!page.section.isEmpty() && (section == nullptr || section->text(0) != page.section)) {
      section = new QTreeWidgetItem(m_contents, {page.section});
      section->setFlags(Qt::ItemIsEnabled);
      section->setFont(0, Theme().titleFont());
    }
    QTreeWidgetItem* item = page.section.isEmpty() ? new QTreeWidgetItem(m_contents, {page.title})
                                                   : new QTreeWidgetItem(section, {page.title});
    item->setData(0, kPathRole, page.path);
  }
  m_contents->expandAll();
}

void ManualWindow::setTheme(const Theme& theme) {
  setStyleSheet(QStringLiteral("#manual { background: %1; } QTreeView { show-decoration-selected: 0; } "
                               "QTreeView::branch { background: %1; }")
                    .arg(theme.color(Role::Surface).name()));
  m_title->setStyleSheet(QStringLiteral("color: %1").arg(theme.color(Role::TextSecond).name()));
  m_count->setStyleSheet(QStringLiteral("color: %1").arg(theme.color(Role::TextThird).name()));
  m_browser->setTheme(theme);
}

void ManualWindow::openPage(const QString& page) {
  if (m_pages.empty()) {
    m_browser->setPlainText(tr("The pages of the manual are not where the program looks for them."));
    refresh();
    return;
  }
  leave();
  const QString path = page.section(QLatin1Char('#'), 0, 0);
  m_history.open(findManualPage(m_pages, path) ? page : QString::fromLatin1(kManualIndex));
  showPage(findManualPage(m_pages, path) ? page : QString::fromLatin1(kManualIndex), -1);
}

void ManualWindow::showPage(const QString& page, int scroll) {
  const QString path = page.section(QLatin1Char('#'), 0, 0);
  const QString anchor = page.section(QLatin1Char('#'), 1);
  const std::optional<std::size_t> found = findManualPage(m_pages, path);
  if (!found) return;
  if (path != m_page) m_browser->showPage(m_pages[*found]);
  m_page = path;
  if (scroll >= 0)
    m_browser->verticalScrollBar()->setValue(scroll);
  else if (anchor.isEmpty())
    m_browser->verticalScrollBar()->setValue(0);
  else
    m_browser->scrollToAnchor(anchor);
  refresh();
}

void ManualWindow::leave() {
  m_history.leaveAt(m_browser->verticalScrollBar()->value());
}

void ManualWindow::goBack() {
  if (!m_history.canGoBack()) return;
  leave();
  const ManualHistory::Place& place = m_history.goBack();
  showPage(place.page, place.scroll);
}

void ManualWindow::goForward() {
  if (!m_history.canGoForward()) return;
  leave();
  const ManualHistory::Place& place = m_history.goForward();
  showPage(place.page, place.scroll);
}

void ManualWindow::search(const QString& typed) {
  m_hits = searchManual(m_pages, typed);
  const std::size_t all = m_hits.size();
  if (m_hits.size() > kMostHits) m_hits.resize(kMostHits);
  const bool searching = !searchWords(typed).isEmpty();
  m_contents->setVisible(!searching);
  m_found->setVisible(searching);
  m_count->setVisible(searching);
  m_count->setText(all == 0 ? tr("Nothing was found") : all == 1 ? tr("1 line") : tr("%1 lines").arg(all));
  m_found->clear();
  for (const ManualHit& hit : m_hits) {
    auto* item =
        new QListWidgetItem(tr("%1, line %2\n%3").arg(m_pages[hit.page].title).arg(hit.line).arg(hit.text));
    item->setData(Qt::AccessibleTextRole, tr("%1: %2").arg(m_pages[hit.page].title, hit.text));
    m_found->addItem(item);
  }
  if (!m_hits.empty()) m_found->setCurrentRow(0);
  if (!searching) m_browser->mark({}, {});
}

void ManualWindow::openHit(int row) {
  if (row < 0 || std::cmp_greater_equal(row, m_hits.size())) return;
  const ManualHit hit = m_hits[static_cast<std::size_t>(row)];
  openPage(m_pages[hit.page].path);
  m_browser->mark(searchWords(m_search->text()), hit.text);
}

void ManualWindow::follow(const QUrl& link) {
  const QString scheme = link.scheme();
  if (scheme == QLatin1String("dock"))
    Q_EMIT dockWanted(link.path());
  else if (scheme == QLatin1String("example"))
    Q_EMIT exampleWanted(link.path());
  else if (scheme == QLatin1String("https") || scheme == QLatin1String("http"))
    QDesktopServices::openUrl(link);
  else if (link.path().isEmpty())
    openPage(m_page + QLatin1Char('#') + link.fragment());
  else
    openPage(resolvedManualPath(m_page, link.path()) +
             (link.hasFragment() ? QLatin1Char('#') + link.fragment() : QString()));
}

void ManualWindow::refresh() {
  m_back->setEnabled(m_history.canGoBack());
  m_forward->setEnabled(m_history.canGoForward());
  const std::optional<std::size_t> now = findManualPage(m_pages, m_page);
  m_title->setText(now ? m_pages[*now].title : QString());
  for (QTreeWidgetItemIterator item(m_contents); *item != nullptr; ++item) {
    if ((*item)->data(0, kPathRole).toString() == m_page) m_contents->setCurrentItem(*item);
  }
}

void ManualWindow::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Escape) {
    QWidget::keyPressEvent(event);
  } else if (!m_search->text().isEmpty()) {
    m_search->clear();
  } else {
    close();
  }
}

bool ManualWindow::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_search && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_Down) {
      (m_found->isVisible() ? static_cast<QWidget*>(m_found) : m_contents)->setFocus();
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace spanscope::ui
