// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/window_picture.h"

#include "engine/base/output_file.h"
#include "engine/jobs/probe.h"
#include "ui/document/document_model.h"
#include "ui/editor/canvas.h"
#include "ui/lessons/lesson_reader.h"
#include "ui/session/log_diagnosis.h"
#include "ui/session/measure_requests.h"
#include "ui/views/view.h"
#include "ui/window/engine_jobs.h"
#include "ui/window/lesson_controller.h"
#include "ui/window/main_window.h"
#include "ui/words/tr.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QImage>
#include <QPixmap>
#include <QTimer>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace spanscope::ui {

ExportItem windowItem(MainWindow& window) {
  return {.id = QStringLiteral("window"),
          .title = tr("Whole window"),
          .size = window.size(),
          .paint =
              [&window](QPainter& painter, const QSize& wanted, const Theme& theme) {
                const Scheme before = window.scheme();
                window.setUpdatesEnabled(false);
                if (theme.scheme() != before) window.setScheme(theme.scheme());
                const QSize size = window.size();
                const double scale = std::min(static_cast<double>(wanted.width()) / size.width(),
                                              static_cast<double>(wanted.height()) / size.height());
                painter.save();
                painter.scale(scale, scale);
                window.render(&painter);
                painter.restore();
                if (theme.scheme() != before) window.setScheme(before);
                window.setUpdatesEnabled(true);
              },
          .csv = {},
          .isWindow = true};
}

ExportItem canvasItem(const ViewInput& input, const QSize& size) {
  return {.id = QStringLiteral("canvas"),
          .title = tr("Canvas"),
          .size = size,
          .paint =
              [input](QPainter& painter, const QSize& wanted, const Theme& theme) {
                DocumentModel model(*input.document);
                Canvas canvas;
                ViewInput shown = input;
                shown.theme = theme;
                canvas.setModel(&model);
                canvas.setInput(shown);
                canvas.paintTo(painter, wanted);
              },
          .csv = {}};
}

namespace {

constexpr int kSettle = 250;       // milliseconds for layouts and queued repaints
constexpr int kPatience = 10'000;  // milliseconds for a prediction

void settle() {
  QElapsedTimer timer;
  timer.start();
  while (timer.elapsed() < kSettle) QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
}

/// Writes a picture. Returns why the picture could not be written; empty: no error. Never overwrites a file
/// that is shown in the picture.
QString write(const QImage& image, const QString& path, const QStringList& shown) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  image.save(&buffer, "PNG");
  OutputRules rules;
  for (const QString& file : shown) {
    if (const auto identity = identityOf(file.toStdString())) rules.inputs.push_back(*identity);
  }
  const std::optional<Error> error =
      writeFile(path.toStdString(), {bytes.constData(), static_cast<std::size_t>(bytes.size())}, rules);
  return error ? QString::fromStdString(error->message()) : QString();
}

QStringList layoutNames() {
  QStringList names;
  for (const LayoutId layout : kLayouts) names << layoutName(layout);
  return names;
}

}  // namespace

QStringList screenshotNames() {
  QStringList names{QStringLiteral("welcome")};
  names += layoutNames();
  names << QStringLiteral("canvas") << QStringLiteral("lesson") << QStringLiteral("presentation");
  for (const ViewInfo& info : viewTable()) names << info.id;
  return names;
}

Screenshots::Screenshots(MainWindow& window, ScreenshotOptions options, QObject* parent)
    : QObject(parent), m_window(window), m_options(std::move(options)) {}

void Screenshots::start() {
  m_window.resize(m_options.size);
  m_window.show();
  if (showsLessons()) {
    QTimer::singleShot(0, this, &Screenshots::openLesson);
    return;
  }
  connect(&m_window.workspace(), &Workspace::jobEnded, this,
          [this] { QTimer::singleShot(0, this, &Screenshots::next); });
  QTimer::singleShot(0, this, &Screenshots::next);
}

void Screenshots::next() {
  if (m_file == m_options.files.size()) {
    if (measure()) return;
    selectSomething();
    takeAll();
    return;
  }
  const QString file = m_options.files[m_file++];
  const auto earlier = measured<LogDiagnosisKind>(m_window.workspace().input().measured);
  if (!m_window.openFile(file)) {
    Q_EMIT finished(tr("%1 could not be opened").arg(file));
    return;
  }
  if (!m_window.workspace().current()->source->takesRuns()) {
    next();
    return;
  }
  // A log does not become the document of a tab.
  const OpenDocument* const shown = m_window.workspace().current();
  const bool isShown =
      shown != nullptr && shown->model != nullptr && QFileInfo(shown->model->filePath()) == QFileInfo(file);
  if (!isShown && isLog(file)) {
    waitForLog(earlier);
    next();
    return;
  }
  if (const QString problem = m_window.workspace().runs().start(); !problem.isEmpty())
    Q_EMIT finished(problem);
}

/// Starts a benchmark, a comparison of policies or a probe if one is requested. Returns whether such a job
/// was started. Taking pictures then continues at the end of the job.
bool Screenshots::measure() {
  Workspace& workspace = m_window.workspace();
  const bool isBenchmark = m_options.view == QLatin1String("benchmark");
  const bool isProbe = m_options.view == QLatin1String("probe");
  const bool isWanted = (isBenchmark || isProbe || m_options.view == QLatin1String("policies")) &&
                        workspace.current() != nullptr && workspace.current()->source->takesRuns();
  if (!isWanted || std::exchange(m_isMeasured, true)) return false;
  const document::Document& document = workspace.current()->model->document();
  return startJob(workspace, isBenchmark ? benchmarkCall(document, {})
                             : isProbe   ? jobs::callOf<jobs::ProbeJob>({})
                                       : comparisonCall(document, chosenPolicies(workspace.input().measured)))
      .isEmpty();
}

void Screenshots::waitForPrediction() {
  QElapsedTimer timer;
  timer.start();
  while (m_window.workspace().input().prediction.isPending && timer.elapsed() < kPatience)
    QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
}

void Screenshots::waitForLog(const std::shared_ptr<const LogState>& earlier) {
  const auto now = [this] { return measured<LogDiagnosisKind>(m_window.workspace().input().measured); };
  QElapsedTimer timer;
  timer.start();
  while (now() == nullptr || now() == earlier || now()->isRunning()) {
    // The window shows why a log cannot be diagnosed.
    if (timer.elapsed() > kPatience && (now() == nullptr || now() == earlier)) return;
    QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
  }
}

void Screenshots::selectSomething() {
  // Selects a relocated block, because such a block shows the most. Without relocated blocks, selects the
  // first block.
  settle();
  waitForPrediction();
  const ViewInput& input = m_window.workspace().input();
  const RequestId request = input.shownRequest();
  if (request == 0) return;
  const trace::RequestState& state = input.state().progress().requests.at(request);
  if (state.blocks.empty()) return;
  auto chosen = state.blocks.begin();
  for (auto block = state.blocks.begin(); block != state.blocks.end(); ++block) {
    if (block->second.outcome != trace::LookupOutcome::Relocated) continue;
    chosen = block;
    break;
  }
  Selection selection;
  selection.block = BlockRef{
      .request = request, .segment = chosen->first.segment, .virtualIndex = chosen->first.virtualIndex};
  selection.physical = chosen->second.block;
  if (chosen->first.segment < state.segments.size()) {
    const document::NodeId node = input.nodeOf(state.run, state.segments[chosen->first.segment].node);
    if (node != document::kNoNode) selection.nodes = {node};
  }
  m_window.workspace().select(selection);
}

void Screenshots::takeAll() {
  QDir().mkpath(m_options.folder);
  QStringList names = screenshotNames();
  if (m_options.view == QLatin1String("all"))
    names.removeIf([](const QString& name) {
      return name == QLatin1String("lesson") || name == QLatin1String("presentation");
    });
  else
    names = {m_options.view};
  for (const QString& name : names) {
    if (const QString problem = take(name); !problem.isEmpty()) {
      Q_EMIT finished(problem);
      return;
    }
  }
  Q_EMIT finished({});
}

QString Screenshots::take(const QString& name) {
  const Theme theme = m_window.workspace().input().theme;
  QImage image;
  if (name == QLatin1String("welcome") || layoutNames().contains(name)) {
    m_window.perform(name == QLatin1String("welcome") ? QStringLiteral("file.welcome")
                                                      : QStringLiteral("view.") + name);
    if (name != QLatin1String("welcome")) m_window.showDocuments();
    settle();
    m_window.canvas().fit();
    settle();
    image = m_window.grab().toImage();
  } else if (name == QLatin1String("canvas")) {
    image = QImage(m_options.size, QImage::Format_ARGB32_Premultiplied);
    image.fill(theme.color(Role::Canvas));
    QPainter painter(&image);
    m_window.canvas().paintTo(painter, m_options.size);
  } else {
    for (const ViewInfo& info : viewTable()) {
      if (info.id != name) continue;
      const ExportItem item = exportItem(info, m_window.workspace().input(), m_options.size);
      image = renderItem(item, pictureSize(item), theme);
    }
  }
  if (image.isNull())
    return tr("There is no view “%1”. The views are: %2")
        .arg(name, screenshotNames().join(QStringLiteral(", ")));
  return save(name, image);
}

QString Screenshots::save(const QString& name, const QImage& image) {
  const bool isDark = m_window.workspace().input().theme.scheme() == Scheme::Dark;
  const QString path =
      QStringLiteral("%1/%2-%3-%4x%5.png")
          .arg(m_options.folder, name, isDark ? QStringLiteral("dark") : QStringLiteral("light"))
          .arg(m_options.size.width())
          .arg(m_options.size.height());
  return write(image, path, m_options.files);
}

bool Screenshots::showsLessons() const {
  return m_options.view == QLatin1String("lesson") || m_options.view == QLatin1String("presentation");
}

void Screenshots::openLesson() {
  QDir().mkpath(m_options.folder);
  if (m_file == m_options.files.size()) {
    Q_EMIT finished(m_file == 0 ? tr("There is no lesson. Give the files of lessons.") : QString());
    return;
  }
  LessonController& lessons = m_window.lessons();
  const QString& file = m_options.files[m_file];
  if (!lessons.open(file, 0)) {
    Q_EMIT finished(tr("%1 could not be opened").arg(file));
    return;
  }
  const bool isPresented = m_options.view == QLatin1String("presentation");
  if (isPresented && m_file == 0) {
    m_window.perform(QStringLiteral("learn.present"));
    // A presented lesson has the whole screen, but a picture has the requested size.
    m_window.setWindowState(Qt::WindowNoState);
    m_window.resize(m_options.size);
  }
  connect(lessons.reader().course(), &LessonCourse::changed, this, &Screenshots::goOnInLesson,
          Qt::QueuedConnection);
  goOnInLesson();
}

void Screenshots::goOnInLesson() {
  LessonCourse* const course = m_window.lessons().reader().course();
  if (m_isTaking || course == nullptr || course->isBusy()) return;
  const QString& file = m_options.files[m_file];
  if (!course->problem().isEmpty()) {
    Q_EMIT finished(tr("%1: step %2: %3").arg(file).arg(course->step() + 1).arg(course->problem()));
    return;
  }
  m_isTaking = true;
  settle();
  waitForPrediction();
  settle();
  m_isTaking = false;
  const QString state = course->waiting()          ? QStringLiteral("-question")
                        : !course->tasks().empty() ? QStringLiteral("-task")
                                                   : QString();
  const QString name = QStringLiteral("%1-%2-%3%4")
                           .arg(QFileInfo(file).completeBaseName())
                           .arg(course->step() + 1, 2, 10, QLatin1Char('0'))
                           .arg(course->readable(), 2, 10, QLatin1Char('0'))
                           .arg(state);
  if (const QString problem = save(name, m_window.grab().toImage()); !problem.isEmpty()) {
    Q_EMIT finished(problem);
    return;
  }
  if (continueLesson()) return;
  ++m_file;
  QTimer::singleShot(0, this, &Screenshots::openLesson);
}

bool Screenshots::continueLesson() {
  LessonCourse& course = *m_window.lessons().reader().course();
  if (const std::optional<QuestionPlace> place = course.waiting())
    course.answer(*place, {.number = QStringLiteral("10"), .choice = 0});
  else if (!course.tasks().empty())
    course.doTasks();
  else if (course.canGoOn())
    course.next();
  else
    return false;
  return true;
}

}  // namespace spanscope::ui
