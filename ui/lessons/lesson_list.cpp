// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_list.h"

#include "engine/base/error.h"
#include "engine/lesson/lesson_folder.h"

#include <QFileInfo>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QSettings>
#include <QVBoxLayout>

namespace spanscope::ui {
namespace {

constexpr int kBarHeight = 4;  // pixels

QString settingOf(const QString& key) {
  // QSettings would make groups of the slashes in a path.
  return QStringLiteral("lessons/") + QString::fromLatin1(key.toUtf8().toPercentEncoding());
}

QString stateText(const LessonProgress& progress) {
  if (progress.steps == 0) return {};
  if (progress.isDone()) return LessonList::tr("✓ done");
  return LessonList::tr("at step %1 of %2").arg(progress.step + 1).arg(progress.steps);
}

QLabel* textLabel(const QString& text, const QFont& font, const QColor& color) {
  auto* label = new QLabel(text);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setFont(font);
  label->setStyleSheet(QStringLiteral("color: %1; background: transparent").arg(color.name()));
  return label;
}

/// Makes the button of a lesson in the list. The button has several lines.
QPushButton* lessonButton(const ListedLesson& lesson, const LessonProgress& progress, const Theme& theme) {
  auto* button = new QPushButton;
  // Return presses the button too, as in lists.
  button->setAutoDefault(true);
  button->setObjectName(QStringLiteral("lessonCard"));
  button->setProperty("lesson", lesson.key);
  button->setCursor(Qt::PointingHandCursor);
  const QString minutes = LessonList::tr("%n min", nullptr, lesson.minutes);
  const QString state = stateText(progress);
  button->setAccessibleName(QStringList({lesson.title, minutes, state}).join(QStringLiteral(", ")));
  button->setAccessibleDescription(LessonList::tr("Afterwards you know %1").arg(lesson.after));
  button->setStyleSheet(
      QStringLiteral("#lessonCard { text-align: left; padding: 0; border: 1px solid %1; border-radius: 6px; "
                     "background: %2; }"
                     "#lessonCard:hover { background: %3; }"
                     "#lessonCard:focus { border-color: %4; }")
          .arg(theme.color(Role::Line).name(), theme.color(Role::Surface).name(),
               theme.color(Role::AccentFill).name(), theme.color(Role::Accent).name()));
  auto* lines = new QVBoxLayout(button);
  lines->setContentsMargins(3 * kSpace, 2 * kSpace, 3 * kSpace, 2 * kSpace);
  lines->setSpacing(kSpace);
  QFont title = theme.interfaceFont();
  title.setWeight(QFont::DemiBold);
  // The file names of bundled lessons have numbers. Teachers use these numbers: "lesson 3".
  const QString number = lesson.key.section(QLatin1Char('-'), 0, 0);
  const bool isCounted = !number.isEmpty() && number.toUInt() < 100 && number.at(0).isDigit();
  lines->addWidget(textLabel(isCounted ? number + QStringLiteral(" · ") + lesson.title : lesson.title, title,
                             theme.color(Role::Text)));
  lines->addWidget(textLabel(state.isEmpty() ? minutes : minutes + QStringLiteral(" · ") + state,
                             theme.smallFont(),
                             theme.color(progress.steps > 0 ? Role::Accent : Role::TextSecond)));
  lines->addWidget(textLabel(LessonList::tr("You learn %1.").arg(lesson.after), theme.smallFont(),
                             theme.color(Role::TextSecond)));
  if (progress.steps > 0) {
    auto* bar = new QProgressBar;
    bar->setObjectName(QStringLiteral("lessonProgress"));
    bar->setRange(0, static_cast<int>(progress.steps));
    bar->setValue(static_cast<int>(progress.reached + 1));
    bar->setTextVisible(false);
    bar->setFixedHeight(kBarHeight);
    bar->setAttribute(Qt::WA_TransparentForMouseEvents);
    QPalette colors = bar->palette();
    colors.setColor(QPalette::Base, theme.color(Role::Line));
    colors.setColor(QPalette::Highlight, theme.color(Role::Accent));
    bar->setPalette(colors);
    lines->addWidget(bar);
  }
  for (QWidget* label : button->findChildren<QLabel*>())
    label->setAttribute(Qt::WA_TransparentForMouseEvents);
  button->setToolTip(LessonList::tr("Afterwards you know %1.").arg(lesson.after));
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  button->setSizePolicy(policy);
  // Qt computes a button's height from the button's own text, which is empty here.
  button->setMinimumHeight(lines->sizeHint().height() + 2 * kSpace);
  return button;
}

}  // namespace

LessonProgress lessonProgress(const QSettings& settings, const QString& key) {
  const QStringList kept = settings.value(settingOf(key)).toString().split(QLatin1Char(' '));
  if (kept.size() != 3) return {};
  LessonProgress progress{.step = kept[0].toUInt(), .reached = kept[1].toUInt(), .steps = kept[2].toUInt()};
  if (progress.step >= progress.steps || progress.reached >= progress.steps) return {};
  return progress;
}

void keepLessonProgress(QSettings& settings, const QString& key, const LessonProgress& progress) {
  settings.setValue(settingOf(key),
                    QStringLiteral("%1 %2 %3").arg(progress.step).arg(progress.reached).arg(progress.steps));
}

std::vector<ListedLesson> listedLessons() {
  std::vector<ListedLesson> list;
  try {
    for (const lesson::BundledLesson& one : lesson::bundledLessons()) {
      list.push_back({.path = QString::fromStdString(one.file.string()),
                      .key = QString::fromStdString(one.file.filename().string()),
                      .title = QString::fromStdString(one.head.title),
                      .minutes = static_cast<int>(one.head.minutes),
                      .after = QString::fromStdString(one.head.after)});
    }
  } catch (const Failure&) {
    // showLessons() shows that there are no lessons.
  }
  return list;
}

LessonList::LessonList(QWidget* parent) : QScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::NoFocus);
  setAccessibleName(tr("Lessons"));
}

QVBoxLayout* LessonList::begin(const Theme& theme) {
  auto* page = new QWidget;
  page->setObjectName(QStringLiteral("lessonPage"));
  page->setStyleSheet(
      QStringLiteral("#lessonPage { background: %1; }").arg(theme.color(Role::Surface).name()));
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(4 * kSpace, 3 * kSpace, 4 * kSpace, 4 * kSpace);
  column->setSpacing(2 * kSpace);
  setWidget(page);
  return column;
}

void LessonList::showLessons(const std::vector<ListedLesson>& lessons, const QSettings& settings,
                             const Theme& theme) {
  QVBoxLayout* column = begin(theme);
  column->addWidget(textLabel(
      lessons.empty()
          ? tr("The bundled lessons are missing. Open a lesson file, or reinstall Spanscope.")
          : tr("Each lesson answers a question with real runs, and asks what you expect. The times are "
               "estimates: 150 words per minute, and half a minute for each question and action."),
      theme.interfaceFont(), theme.color(Role::TextSecond)));
  column->addSpacing(kSpace);
  for (const ListedLesson& lesson : lessons) {
    QPushButton* button = lessonButton(lesson, lessonProgress(settings, lesson.key), theme);
    connect(button, &QPushButton::clicked, this, [this, path = lesson.path] { Q_EMIT lessonWanted(path); });
    column->addWidget(button);
  }
  auto* open = new QPushButton(tr("Open a lesson file…"));
  open->setToolTip(tr("Open a lesson from a Markdown file"));
  connect(open, &QPushButton::clicked, this, &LessonList::fileWanted);
  auto* row = new QHBoxLayout;
  row->addWidget(open);
  row->addStretch();
  column->addLayout(row);
  column->addStretch();
}

void LessonList::showProblems(const QString& file, const QStringList& problems, const Theme& theme) {
  QVBoxLayout* column = begin(theme);
  QFont title = theme.interfaceFont();
  title.setWeight(QFont::DemiBold);
  column->addWidget(
      textLabel(tr("%1 cannot be opened").arg(QFileInfo(file).fileName()), title, theme.color(Role::Error)));
  QLabel* list =
      textLabel(problems.join(QStringLiteral("\n\n")), theme.interfaceFont(), theme.color(Role::Text));
  list->setObjectName(QStringLiteral("lessonProblems"));
  list->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  column->addWidget(list);
  auto* back = new QPushButton(tr("Show all lessons"));
  connect(back, &QPushButton::clicked, this, &LessonList::listWanted);
  auto* row = new QHBoxLayout;
  row->addWidget(back);
  row->addStretch();
  column->addLayout(row);
  column->addStretch();
}

void LessonList::takeFocus() {
  if (auto* first = widget() == nullptr ? nullptr : widget()->findChild<QPushButton*>())
    first->setFocus(Qt::OtherFocusReason);
}

}  // namespace spanscope::ui
