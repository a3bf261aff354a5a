// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/lesson_page_writer.h"

#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/lesson/filled.h"
#include "ui/export/view_picture.h"
#include "ui/lessons/lesson_course.h"
#include "ui/theme/theme.h"
#include "ui/views/view.h"
#include "ui/window/main_window.h"
#include "ui/window/window_picture.h"

#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QProcessEnvironment>
#include <QSaveFile>
#include <QTimer>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::ui {

namespace {

/// The pictures are wide enough for the views, and narrow enough for readable text on a page.
constexpr QSize kPicture{900, 440};
constexpr QSize kCanvasPicture{900, 560};  // three documents are no stack
constexpr int kQuiet = 120;                // milliseconds for the views to get their input and layouts
constexpr int kPageWait = 5'000;           // milliseconds for a prediction

void settleFor(int milliseconds) {
  QElapsedTimer timer;
  timer.start();
  while (timer.elapsed() < milliseconds) QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
}

bool hasAction(const lesson::Step& step, std::initializer_list<lesson::ActionKind> kinds) {
  return std::any_of(step.blocks.begin(), step.blocks.end(), [&](const lesson::Block& block) {
    const auto* list = std::get_if<lesson::ActionList>(&block);
    return list != nullptr &&
           std::any_of(list->actions.begin(), list->actions.end(), [&](const lesson::Action& action) {
             return std::find(kinds.begin(), kinds.end(), action.kind) != kinds.end();
           });
  });
}

/// The height up to the last pixel row with more than one colour, plus a margin.
int inkedHeight(const QImage& image) {
  constexpr int kMargin = 3 * kSpace;
  constexpr int kLeast = 80;
  constexpr int kFrame = 12;  // left and right margins without frames and their corners
  const auto isEmpty = [&](int y) {
    for (int x = kFrame; x < image.width() - kFrame; ++x) {
      if (image.pixel(x, y) != image.pixel(kFrame, y)) return false;
    }
    return true;
  };
  int last = image.height();
  while (last > kLeast && isEmpty(last - 1)) --last;
  return std::min(image.height(), last + kMargin);
}

void removeAll(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
    text.erase(at, part.size());
}

/// Returns the SVG without empty groups and without fonts of groups without text. QSvgGenerator writes these
/// groups for every change of the pen. Such groups are most of the file.
std::string leanSvg(const std::string& svg) {
  constexpr std::string_view kGroup = "<g ";
  constexpr std::string_view kEnd = "</g>";
  const std::size_t root = svg.find(kGroup);
  if (root == std::string::npos) return svg;
  std::size_t done = root + kGroup.size();
  std::string out = svg.substr(0, done);
  while (true) {
    const std::size_t begin = svg.find(kGroup, done);
    const std::size_t head = begin == std::string::npos ? begin : svg.find('>', begin);
    const std::size_t end = head == std::string::npos ? head : svg.find(kEnd, head);
    if (end == std::string::npos) break;
    out.append(svg, done, begin - done);
    std::string open = svg.substr(begin, head - begin);
    const std::string body = svg.substr(head + 1, end - head - 1);
    done = end + kEnd.size();
    if (body.find_first_not_of(" \n") == std::string::npos) continue;
    removeAll(open, " transform=\"matrix(1,0,0,1,0,0)\"");
    if (const std::size_t font = open.find("font-family=");
        font != std::string::npos && body.find("<text") == std::string::npos)
      open.erase(font);
    out += open + '>' + body + std::string(kEnd);
  }
  out.append(svg, done);
  removeAll(out, " vector-effect=\"none\"");
  // Removes empty lines.
  std::string lean;
  for (const char c : out) {
    if (c != '\n' || lean.empty() || lean.back() != '\n') lean += c;
  }
  return lean;
}

}  // namespace

LessonPageWriter::LessonPageWriter(MainWindow& window, QString file, QString folder, QObject* parent)
    : QObject(parent), m_window(window), m_file(std::move(file)), m_folder(std::move(folder)) {
  connect(&m_window.workspace(), &Workspace::jobEnded, this,
          [this](const QString& problem, std::uint32_t tab) {
            if (!m_course || tab != m_stage->tab()) return;
            const OpenDocument* own = m_window.workspace().find(tab);
            m_course->jobEnded(problem.isEmpty() && own != nullptr ? own->failure : problem);
          });
}

LessonPageWriter::~LessonPageWriter() = default;

void LessonPageWriter::start() {
  m_window.show();
  QTimer::singleShot(0, this, &LessonPageWriter::begin);
}

void LessonPageWriter::begin() {
  std::shared_ptr<const LessonFile> file;
  try {
    file = openLesson(m_file);
  } catch (const Failure& failure) {
    Q_EMIT finished(QString::fromUtf8(failure.what()));
    return;
  }
  if (query::hasErrors(file->diagnostics)) {
    const auto wrong =
        std::find_if(file->diagnostics.begin(), file->diagnostics.end(),
                     [](const query::Diagnostic& each) { return each.severity == Severity::Error; });
    Q_EMIT finished(QString::fromStdString(wrong->located(m_file.toStdString())));
    return;
  }
  m_stage = std::make_unique<WindowStage>(m_window.parts(), m_window.lessons());
  m_course = std::make_unique<LessonCourse>(std::move(file), *m_stage);
  connect(m_course.get(), &LessonCourse::changed, this, &LessonPageWriter::goOn, Qt::QueuedConnection);
  m_course->begin();
}

/// Draws a step when it ends, because later the trace also has events of the next steps.
void LessonPageWriter::goOn() {
  if (m_course->isBusy() || m_drawn == m_course->steps()) return;
  if (!m_course->problem().isEmpty()) {
    Q_EMIT finished(tr("%1: step %2: %3").arg(m_file).arg(m_course->step() + 1).arg(m_course->problem()));
    return;
  }
  // Questions get no answer here. The page has the answers.
  if (const std::optional<QuestionPlace> place = m_course->waiting()) {
    m_course->answer(*place, {});
    return;
  }
  if (!m_course->tasks().empty()) {
    m_course->doTasks();
    return;
  }
  const lesson::Step& step = m_course->lesson().steps[m_course->step()];
  if (m_course->step() < m_drawn || m_course->readable() < step.blocks.size()) return;
  m_drawn = m_course->step() + 1;
  if (const QString problem = draw(step); !problem.isEmpty()) {
    Q_EMIT finished(problem);
    return;
  }
  if (m_drawn < m_course->steps())
    m_course->next();
  else
    writePage();
}

std::vector<ExportItem> LessonPageWriter::itemsOf(const lesson::Step& step) const {
  using Kind = lesson::ActionKind;
  const ViewInput& input = m_window.workspace().input();
  std::vector<ExportItem> items;
  // `commands`: what the view performs before it is painted.
  const auto add = [&](const QString& id, const QStringList& commands = {}) {
    const auto isIt = [&id](const auto& each) { return each.id == id; };
    const auto info = std::find_if(viewTable().begin(), viewTable().end(), isIt);
    if (info == viewTable().end() || std::any_of(items.begin(), items.end(), isIt)) return;
    ViewInfo shown = *info;
    shown.make = [make = info->make, commands](QWidget* parent) {
      View* const view = make(parent);
      for (const QString& command : commands) view->perform(command);
      return view;
    };
    items.push_back(exportItem(shown, input, kPicture));
  };
  for (const lesson::Block& block : step.blocks) {
    const auto* list = std::get_if<lesson::ActionList>(&block);
    if (list == nullptr) continue;
    for (const lesson::Action& action : list->actions) {
      if (action.kind == Kind::Compare) {
        const auto run = std::get<std::uint32_t>(action.arguments.front().value);
        if (run > 0 && run <= m_course->facts().size())
          add(QStringLiteral("compare"),
              {compareRuns(m_course->facts()[run - 1].run, m_course->facts().back().run),
               QStringLiteral("compare.differences")});
      }
      if (action.kind != Kind::Dock || action.arguments.empty()) continue;
      if (const auto* dock = std::get_if<std::string>(&action.arguments.front().value))
        add(QString::fromStdString(*dock));
    }
  }
  if (!items.empty()) return items;
  const bool changesQuery = hasAction(step, {Kind::Open, Kind::Edit, Kind::Swap});
  if (!changesQuery && hasAction(step, {Kind::Select, Kind::Scrub})) add(m_course->dock());
  if (items.empty() && (changesQuery || hasAction(step, {Kind::Select, Kind::Scrub})))
    items.push_back(canvasItem(input, kCanvasPicture));
  return items;
}

QString LessonPageWriter::draw(const lesson::Step& step) {
  // The readers of the page have not answered the question of this step.
  m_window.workspace().hidePrediction(m_course->dock() != QLatin1String("prediction"));
  settleFor(kQuiet);
  QElapsedTimer waited;
  waited.start();
  while (m_window.workspace().input().prediction.isPending && waited.elapsed() < kPageWait)
    settleFor(kQuiet / 4);
  if (m_course->document() == nullptr) return {};
  for (const ExportItem& item : itemsOf(step)) {
    if (QString problem = draw(step, item); !problem.isEmpty()) return problem;
  }
  return {};
}

QString LessonPageWriter::draw(const lesson::Step& step, const ExportItem& item) {
  const QSize whole = pictureSize(item);
  const Role ground = item.id == QLatin1String("canvas") ? Role::Canvas : Role::Surface;
  // The picture ends before the empty area at the bottom.
  const QSize size(whole.width(), inkedHeight(renderItem(item, whole, Theme(Scheme::Light))));
  const auto info = std::find_if(viewTable().begin(), viewTable().end(),
                                 [&item](const ViewInfo& each) { return each.id == item.id; });
  const QString title =
      info == viewTable().end() ? tr("The query") : QStringLiteral("%1. %2").arg(info->title, info->help);
  lesson::PagePicture picture{.title = title.toStdString(), .light = {}, .dark = {}};
  for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
    const Theme theme(scheme);
    const auto paint = [&](QPainter& painter, const QSize& /*seen*/) { item.paint(painter, whole, theme); };
    const auto bytes = makePicture(paint, size, PictureFormat::Svg,
                                   {.background = theme.color(ground), .title = item.title});
    if (const auto* error = std::get_if<Error>(&bytes)) return QString::fromStdString(error->message());
    (scheme == Scheme::Light ? picture.light : picture.dark) =
        leanSvg(std::get<QByteArray>(bytes).toStdString());
  }
  m_pictures[step.number].push_back(std::move(picture));
  return {};
}

void LessonPageWriter::writePage() {
  const lesson::FilledLesson filled = lesson::fill(m_course->lesson(), m_course->facts());
  QStringList failures;
  for (const std::string& failure : filled.failures())
    failures += QStringLiteral("%1: %2").arg(m_file, QString::fromStdString(failure));
  OutputRules rules;
  if (const auto identity = identityOf(m_file.toStdString())) rules.inputs.push_back(*identity);
  QDir().mkpath(m_folder);
  const QString path = QStringLiteral("%1/%2.html").arg(m_folder, QFileInfo(m_file).completeBaseName());
  const std::optional<Error> error =
      spanscope::writeFile(path.toStdString(), lesson::pageOf(filled, m_course->facts(), m_pictures), rules);
  if (error) failures += QString::fromStdString(error->message());
  Q_EMIT finished(failures.join(QLatin1Char('\n')));
}

LessonPageJob::LessonPageJob(QString program, QString lesson, QString page, QObject* parent)
    : QObject(parent), m_program(std::move(program)), m_lesson(std::move(lesson)), m_page(std::move(page)) {
  connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart)
      end(tr("%1 cannot be started: %2").arg(m_program, m_process.errorString()));
  });
  connect(&m_process, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
    if (status == QProcess::NormalExit && code == 0) return take();
    const QString said = QString::fromUtf8(m_process.readAllStandardError()).trimmed();
    end(said.isEmpty() ? tr("the process ended without an error message") : said);
  });
}

LessonPageJob::~LessonPageJob() {
  m_process.disconnect(this);
  if (m_process.state() == QProcess::NotRunning) return;
  m_process.kill();
  m_process.waitForFinished();
}

void LessonPageJob::start() {
  if (!m_folder.isValid()) return end(m_folder.errorString());
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
  m_process.setProcessEnvironment(environment);
  m_process.setStandardOutputFile(QProcess::nullDevice());
  m_process.start(m_program,
                  {QStringLiteral("--lesson-pages"), QStringLiteral("-o"), m_folder.path(), m_lesson});
}

void LessonPageJob::take() {
  QFile written(m_folder.filePath(QFileInfo(m_lesson).completeBaseName() + QStringLiteral(".html")));
  QSaveFile page(m_page);
  if (!written.open(QIODevice::ReadOnly)) return end(written.errorString());
  const QByteArray bytes = written.readAll();
  if (!page.open(QIODevice::WriteOnly) || page.write(bytes) != bytes.size() || !page.commit())
    return end(page.errorString());
  end({});
}

void LessonPageJob::end(const QString& problem) {
  if (std::exchange(m_hasEnded, true)) return;
  Q_EMIT finished(problem);
}

}  // namespace spanscope::ui
