// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/welcome_page.h"

#include <QDir>
#include <QFileInfo>
#include <QFontMetrics>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QResizeEvent>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>
#include <cstddef>

namespace spanscope::ui {

namespace {

constexpr int kPageWidth = 880;
constexpr int kMargin = 10 * kSpace;
constexpr int kLeastCard = 248;
constexpr int kGap = 3 * kSpace;
constexpr qsizetype kMaxRecent = 8;

}  // namespace

WelcomePage::WelcomePage(const std::vector<Example>& examples, QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Welcome"));
  m_page = new QWidget;
  m_page->setObjectName(QStringLiteral("welcome"));
  auto* column = new QVBoxLayout(m_page);
  column->setContentsMargins(kMargin, 2 * kMargin, kMargin, kMargin);
  column->setSpacing(0);
  column->addLayout(makeHead());
  column->addSpacing(8 * kSpace);

  m_examplesTitle = new QLabel(tr("Examples"), m_page);
  m_hint = new QLabel(m_page);
  auto* titles = new QHBoxLayout;
  titles->addWidget(m_examplesTitle);
  titles->addStretch();
  titles->addWidget(m_hint);
  column->addLayout(titles);
  column->addSpacing(2 * kSpace);
  m_grid = new QGridLayout;
  m_grid->setSpacing(kGap);
  for (const Example& example : examples) {
    auto* card = new ExampleCard(example, m_page);
    connect(card, &QAbstractButton::clicked, this, [this, file = example.file] { Q_EMIT openExample(file); });
    m_cards.push_back(card);
  }
  column->addLayout(m_grid);
  column->addSpacing(8 * kSpace);

  m_recentTitle = new QLabel(tr("Recent files"), m_page);
  m_noRecent = new QLabel(tr("Files that you open or save are listed here."), m_page);
  m_recent = new QVBoxLayout;
  m_recent->setSpacing(0);
  column->addWidget(m_recentTitle);
  column->addSpacing(kSpace);
  column->addWidget(m_noRecent);
  column->addLayout(m_recent);
  column->addStretch();

  m_area = new QScrollArea(this);
  m_area->setFrameShape(QFrame::NoFrame);
  m_area->setWidgetResizable(true);
  m_area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_area->setFocusPolicy(Qt::NoFocus);
  m_area->setWidget(m_page);
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  outer->addWidget(m_area);
  placeCards();
  setKeys({});
  setTheme(m_theme);
}

QLayout* WelcomePage::makeHead() {
  m_title = new QLabel(tr("Spanscope"), m_page);
  m_sentence =
      new QLabel(tr("A workbench for span queries. Write a prompt as a tree and run it on the built-in "
                    "engine. See what the cache reused, relocated and computed."),
                 m_page);
  m_sentence->setWordWrap(true);
  m_learn = new QPushButton(tr(/*id:open-lessons*/ "Open lessons"), m_page);
  m_learn->setObjectName(QStringLiteral("primary"));
  m_new = new QPushButton(tr(/*id:create-query*/ "New query"), m_page);
  m_open = new QPushButton(tr(/*id:open-file*/ "Open…"), m_page);
  m_log = new QPushButton(tr("Open log…"), m_page);
  connect(m_log, &QPushButton::clicked, this, &WelcomePage::openLog);
  connect(m_learn, &QPushButton::clicked, this, &WelcomePage::learn);
  connect(m_new, &QPushButton::clicked, this, &WelcomePage::newDocument);
  connect(m_open, &QPushButton::clicked, this, &WelcomePage::openDialog);
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(2 * kSpace);
  buttons->addWidget(m_learn);
  buttons->addWidget(m_new);
  buttons->addWidget(m_open);
  buttons->addWidget(m_log);
  buttons->addStretch();
  auto* head = new QVBoxLayout;
  head->setSpacing(0);
  head->addWidget(m_title);
  head->addSpacing(kSpace);
  head->addWidget(m_sentence);
  head->addSpacing(4 * kSpace);
  head->addLayout(buttons);
  return head;
}

void WelcomePage::setKeys(const KeyTexts& keys) {
  const auto keyOf = [&keys](const char* command) {
    const auto found = keys.find(QString::fromLatin1(command));
    return found == keys.end() ? QString() : found->second;
  };
  const auto tip = [](QPushButton* button, const QString& text, const QString& key) {
    button->setToolTip(key.isEmpty() ? text : tr("%1 (%2)").arg(text, key));
  };
  const QString run = keyOf("run.run");
  m_hint->setText(run.isEmpty() ? tr("Open an example, then press Run")
                                : tr(/*id:open-example-then*/ "Open an example, then press %1").arg(run));
  tip(m_learn, tr("Open the first lesson. After the first lesson, open the list of lessons"),
      keyOf("learn.lessons"));
  tip(m_new, tr(/*id:new-query*/ "Open an empty query"), keyOf("file.new"));
  tip(m_log, tr("Find out why the prompts of a request log missed the cache"), keyOf("file.open-log"));
  tip(m_open, tr("Open a query or a recorded run"), keyOf("file.open"));
}

void WelcomePage::placeCards() {
  const int available = std::min(kPageWidth, width() - 2 * kMargin);
  const int columns = std::clamp((available + kGap) / (kLeastCard + kGap), 1, 3);
  if (columns == m_columns) return;
  for (int column = 0; column < std::max(columns, m_columns); ++column) {
    m_grid->setColumnStretch(column, column < columns ? 1 : 0);
  }
  m_columns = columns;
  for (std::size_t i = 0; i < m_cards.size(); ++i) {
    m_grid->addWidget(m_cards[i], static_cast<int>(i) / columns, static_cast<int>(i) % columns);
  }
}

void WelcomePage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const int side = std::max(kMargin, (width() - kPageWidth) / 2);
  m_page->layout()->setContentsMargins(side, height() < 700 ? 8 * kSpace : 2 * kMargin, side, kMargin);
  placeCards();
}

void WelcomePage::setRecentFiles(const QStringList& paths) {
  while (QLayoutItem* item = m_recent->takeAt(0)) {
    if (QWidget* widget = item->widget()) {
      widget->hide();
      widget->deleteLater();
    }
    delete item;
  }
  for (const QString& path : paths.mid(0, kMaxRecent)) {
    const QFileInfo info(path);
    QString folder = info.absolutePath();
    const QString home = QDir::homePath();
    if (folder == home || folder.startsWith(home + QLatin1Char('/')))
      folder.replace(0, home.size(), QLatin1Char('~'));
    auto* button = new QPushButton(tr("%1   —   %2").arg(info.fileName(), folder), m_page);
    button->setObjectName(QStringLiteral("recentFile"));
    button->setFlat(true);
    button->setToolTip(path);
    button->setCursor(Qt::PointingHandCursor);
    button->setAccessibleName(tr("Recent file: %1").arg(info.fileName()));
    button->setAccessibleDescription(path);
    connect(button, &QPushButton::clicked, this, [this, path] { Q_EMIT openFile(path); });
    m_recent->addWidget(button);
  }
  m_noRecent->setVisible(paths.isEmpty());
  styleRecentFiles();
}

void WelcomePage::styleRecentFiles() {
  const QString style =
      QStringLiteral(
          "QPushButton { background: transparent; color: %1; border: 1px solid transparent; "
          "border-radius: 4px; padding: 4px 8px; text-align: left }"
          "QPushButton:hover { background: %2 }"
          "QPushButton:focus { border-color: %3 }")
          .arg(m_theme.color(Role::Text).name(), m_theme.color(Role::AccentFill).name(),
               m_theme.color(Role::Accent).name());
  for (int i = 0; i < m_recent->count(); ++i) {
    QWidget* button = m_recent->itemAt(i)->widget();
    button->setStyleSheet(style);
    button->setFont(m_theme.interfaceFont());
  }
}

void WelcomePage::setTheme(const Theme& theme) {
  m_theme = theme;
  QPalette palette = theme.palette();
  palette.setColor(QPalette::Window, theme.color(Role::Window));
  m_page->setPalette(palette);
  m_page->setAutoFillBackground(true);
  const auto ink = [](QLabel* label, const QFont& font, const QColor& color) {
    label->setFont(font);
    label->setStyleSheet(QStringLiteral("background: transparent; color: %1").arg(color.name()));
  };
  QFont title = theme.interfaceFont();
  title.setPixelSize(28);
  title.setWeight(QFont::DemiBold);
  QFont sentence = theme.interfaceFont();
  sentence.setPixelSize(15);
  ink(m_title, title, theme.color(Role::Text));
  ink(m_sentence, sentence, theme.color(Role::TextSecond));
  ink(m_examplesTitle, theme.titleFont(), theme.color(Role::Text));
  ink(m_recentTitle, theme.titleFont(), theme.color(Role::Text));
  ink(m_hint, theme.smallFont(), theme.color(Role::TextThird));
  ink(m_noRecent, theme.interfaceFont(), theme.color(Role::TextThird));
  for (ExampleCard* card : m_cards) card->setTheme(theme);
  styleRecentFiles();
}

ExampleCard::ExampleCard(const Example& example, QWidget* parent)
    : QAbstractButton(parent), m_example(example) {
  setText(example.title);
  setObjectName(example.file);
  setAccessibleName(tr("Example: %1").arg(example.title));
  setAccessibleDescription(example.description);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_Hover);
  setCursor(Qt::PointingHandCursor);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void ExampleCard::setTheme(const Theme& theme) {
  m_theme = theme;
  update();
}

void ExampleCard::keyPressEvent(QKeyEvent* event) {
  // Return works like Space, because a card opens an example.
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    click();
    return;
  }
  QAbstractButton::keyPressEvent(event);
}

void ExampleCard::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const bool isLit = underMouse() || hasFocus();
  QRectF card = QRectF(rect()).adjusted(1, 1, -1, -1);
  painter.setBrush(m_theme.color(isDown() ? Role::AccentFill : Role::Surface));
  painter.setPen(QPen(m_theme.color(isLit ? Role::Accent : Role::Line), hasFocus() ? 2 : 1));
  painter.drawRoundedRect(card, kDockRadius, kDockRadius);

  const QRect inner = rect().adjusted(3 * kSpace, 3 * kSpace, -3 * kSpace, -2 * kSpace);
  QFont title = m_theme.interfaceFont();
  title.setWeight(QFont::DemiBold);
  painter.setFont(title);
  painter.setPen(m_theme.color(Role::Text));
  const int titleHeight = QFontMetrics(title).height();
  painter.drawText(QRect(inner.left(), inner.top(), inner.width(), titleHeight),
                   Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetrics(title).elidedText(m_example.title, Qt::ElideRight, inner.width()));
  QFont text = m_theme.titleFont();
  text.setWeight(QFont::Normal);
  painter.setFont(text);
  painter.setPen(m_theme.color(Role::TextSecond));
  painter.drawText(inner.adjusted(0, titleHeight + kSpace, 0, 0),
                   Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, m_example.description);
}

}  // namespace spanscope::ui
