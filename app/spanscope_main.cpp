// SPDX-License-Identifier: GPL-3.0-or-later
// The options of the program `spanscope`. Parser, help and man page are made from one list.

#include "app/man_page.h"
#include "engine/base/error.h"
#include "engine/base/readable_file.h"
#include "engine/base/utf8.h"
#include "engine/compute/backends.h"
#include "engine/retrieve/passage_index.h"
#include "engine/workbench/finder/recent_models.h"
#include "engine/workbench/resource_paths.h"
#include "engine/workbench/servers/server_list.h"
#include "engine/workbench/speed_records.h"
#include "kernels/backends.h"
#include "ui/document/autosave.h"
#include "ui/document/ending_signals.h"
#include "ui/window/lesson_controller.h"
#include "ui/window/lesson_page_writer.h"
#include "ui/window/main_window.h"
#include "ui/window/platform_messages.h"
#include "ui/window/window_picture.h"

#include <QApplication>
#include <QCommandLineOption>
#include <QCommandLineParser>
#include <QDir>
#include <QFileInfo>
#include <QFontDatabase>
#include <QLibraryInfo>
#include <QList>
#include <QLocale>
#include <QRegularExpression>
#include <QSettings>
#include <QStandardPaths>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTextStream>
#include <QTimer>
#include <QTranslator>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <system_error>

namespace spanscope {

class WindowArguments {
 public:
  WindowArguments();

  QCommandLineParser& parser() { return m_parser; }
  const QCommandLineOption& versionOption() const { return m_options.at(1); }
  /// Whether the man page was requested. This option is for package builders, so the help does not show it.
  bool asksForManPage() const;
  std::string manPage() const;

 private:
  QCommandLineParser m_parser;
  QList<QCommandLineOption> m_options;  ///< the options that the help shows
};

namespace {

const QString kManPage = QStringLiteral("man-page");
const QString kAbout = QStringLiteral("A workbench for span queries.");
const QString kFiles = QStringLiteral("Queries or recorded runs to open");

QList<QCommandLineOption> ownOptions() {
  return {{QStringLiteral("screenshot"),
           QStringLiteral("Run the files and save pictures of a view, a layout, or all views"),
           QStringLiteral("VIEW")},
          {QStringLiteral("lesson-pages"),
           QStringLiteral("Run the given lessons and save each lesson as a web page with pictures")},
          {QStringLiteral("theme"), QStringLiteral("light or dark"), QStringLiteral("NAME")},
          {QStringLiteral("size"), QStringLiteral("Size of the window in pictures"), QStringLiteral("WxH"),
           QStringLiteral("1280x800")},
          {{QStringLiteral("o"), QStringLiteral("output")},
           QStringLiteral("Folder for pictures and pages"),
           QStringLiteral("DIR"),
           QStringLiteral(".")},
          {QStringLiteral("exit-after-startup"), QStringLiteral("Close as soon as the window is shown")}};
}

ManOption shown(const QCommandLineOption& option) {
  ManOption shown{
      .names = {}, .value = option.valueName().toStdString(), .help = option.description().toStdString()};
  for (const QString& name : option.names())
    shown.names.push_back((name.size() == 1 ? "-" : "--") + name.toStdString());
  if (!option.defaultValues().isEmpty())
    shown.help += " (default: " + option.defaultValues().join(QLatin1Char(' ')).toStdString() + ")";
  if (!shown.help.ends_with('.')) shown.help += '.';
  return shown;
}

}  // namespace

WindowArguments::WindowArguments() {
  m_parser.setApplicationDescription(kAbout);
  m_options << m_parser.addHelpOption() << m_parser.addVersionOption();
  m_parser.addPositionalArgument(QStringLiteral("FILE"), kFiles, QStringLiteral("[FILE…]"));
  const QList<QCommandLineOption> own = ownOptions();
  m_parser.addOptions(own);
  m_options << own;
  QCommandLineOption page(kManPage);
  page.setFlags(QCommandLineOption::HiddenFromHelp);
  m_parser.addOption(page);
}

bool WindowArguments::asksForManPage() const {
  return m_parser.isSet(kManPage);
}

std::string WindowArguments::manPage() const {
  ManPage page("spanscope", "workbench for span queries", SPANSCOPE_VERSION);
  page.heading("SYNOPSIS");
  page.usage("spanscope", "[OPTIONS] [FILE...]");
  page.heading("DESCRIPTION");
  page.paragraph(
      "A span query is a prompt as a tree. The tree shows which sections are independent of each other. In "
      "the window of Spanscope, you build such a query and run it on the built-in inference engine. The "
      "window shows what the KV cache (key-value cache) reused, what was computed, and what the answer "
      "attends to.");
  page.paragraph(
      "Press F1 in the window to read the manual. The program spanq offers the functions of the window on "
      "the command line.");
  page.heading("OPTIONS");
  page.option({.names = {"FILE"}, .value = {}, .help = kFiles.toStdString() + "."});
  for (const QCommandLineOption& option : m_options) page.option(shown(option));
  page.seeAlso({"spanq"});
  return page.text();
}

}  // namespace spanscope
namespace {

using spanscope::ui::MainWindow;
using spanscope::ui::Scheme;

/// Returns an empty size if the text does not have the form "1280x800".
QSize parseSize(const QString& text) {
  static const QRegularExpression form(QStringLiteral("^([1-9][0-9]{0,5})x([1-9][0-9]{0,5})$"));
  const QRegularExpressionMatch match = form.match(text);
  return match.hasMatch() ? QSize(match.captured(1).toInt(), match.captured(2).toInt()) : QSize();
}

/// Writes help, version or the man page. A closed pipe is no error.
int say(const QString& text) {
  const QByteArray bytes = text.toLocal8Bit();
  const auto size = static_cast<std::size_t>(bytes.size());
  if (std::fwrite(bytes.constData(), 1, size, stdout) == size && std::fflush(stdout) == 0) return 0;
  const int error = errno;
  if (error == EPIPE) return 0;
  QTextStream(stderr) << "spanscope: standard output: "
                      << QString::fromStdString(std::generic_category().message(error)) << '\n';
  return 3;
}

int fail(const QString& text) {
  QTextStream(stderr) << "spanscope: " << QString::fromStdString(spanscope::onOneLine(text.toStdString()))
                      << '\n';
  return 2;
}

/// Whether there is a display. Without a display, Qt would end the program without a clear message.
bool hasDisplay() {
  return qEnvironmentVariableIsSet("QT_QPA_PLATFORM") || qEnvironmentVariableIsSet("DISPLAY") ||
         qEnvironmentVariableIsSet("WAYLAND_DISPLAY");
}

/// Installs texts in the user's language, if resources contain such texts.
void installTranslations(QTranslator& own, QTranslator& ofQt) {
  const QLocale locale;
  try {
    const QString folder =
        QString::fromStdString(spanscope::workbench::resourceDirectory()) + QStringLiteral("/translations");
    if (!own.load(locale, QStringLiteral("spanscope"), QStringLiteral("_"), folder)) return;
  } catch (const spanscope::Failure&) {
    return;  // opening the bundled model shows the same error to the user
  }
  QApplication::installTranslator(&own);
  if (ofQt.load(locale, QStringLiteral("qtbase"), QStringLiteral("_"),
                QLibraryInfo::path(QLibraryInfo::TranslationsPath))) {
    QApplication::installTranslator(&ofQt);
  }
}

/// Adds the fonts of a portable folder, for systems without these fonts.
void addOwnFonts() {
  try {
    const QDir folder(QString::fromStdString(spanscope::workbench::resourceDirectory()) +
                      QStringLiteral("/fonts"));
    for (const QString& name : folder.entryList(QDir::Files))
      QFontDatabase::addApplicationFont(folder.filePath(name));
  } catch (const spanscope::Failure&) {
    return;  // as above
  }
}

/// Whether the options need no display: pictures, help, man page and version.
bool needsNoDisplay(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const QByteArray argument(argv[i]);
    for (const char* option :
         {"--screenshot", "--lesson-pages", "--version", "-v", "--help", "-h", "--help-all", "--man-page"}) {
      if (argument == option || argument.startsWith(QByteArray(option) + '=')) return true;
    }
  }
  return false;
}

/// Returns the error of the options; empty if they are valid.
QString problemOf(const QCommandLineParser& arguments) {
  const QString theme = arguments.value(QStringLiteral("theme"));
  if (arguments.isSet(QStringLiteral("theme")) && theme != QLatin1String("light") &&
      theme != QLatin1String("dark"))
    return QStringLiteral("--theme must be light or dark, not %1").arg(theme);
  const bool isPages = arguments.isSet(QStringLiteral("lesson-pages"));
  if (isPages && arguments.isSet(QStringLiteral("screenshot")))
    return QStringLiteral("--lesson-pages and --screenshot cannot be used together");
  if (isPages && arguments.positionalArguments().isEmpty())
    return QStringLiteral("--lesson-pages needs the files of lessons");
  if (arguments.isSet(QStringLiteral("screenshot"))) return {};
  for (const char* option : {"size", "output"}) {
    const QString name = QString::fromLatin1(option);
    if (isPages && name == QLatin1String("output")) continue;
    if (arguments.isSet(name)) return QStringLiteral("--%1 needs --screenshot VIEW").arg(name);
  }
  return {};
}

/// Returns the backends of this program.
spanscope::compute::Backends backends() {
  return spanscope::programBackends();
}

int takeScreenshots(const QCommandLineParser& arguments, QApplication& application) {
  spanscope::ui::ScreenshotOptions options;
  options.view = arguments.value(QStringLiteral("screenshot"));
  options.folder = arguments.value(QStringLiteral("output"));
  options.files = arguments.positionalArguments();
  // The window would ask the user about a missing file, but here no user can answer.
  for (const QString& file : options.files) {
    if (!QFileInfo(file).isReadable())
      return fail(QStringLiteral("%1 does not exist or cannot be read").arg(file));
  }
  options.size = parseSize(arguments.value(QStringLiteral("size")));
  if (options.size.width() < 320 || options.size.height() < 240 || options.size.width() > 16384 ||
      options.size.height() > 16384) {
    return fail(QStringLiteral("--size must be WIDTHxHEIGHT, from 320x240 to 16384x16384"));
  }

  // Pictures must not depend on the user's settings and files.
  const QTemporaryDir folder;
  QSettings settings(folder.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
  MainWindow window(settings, folder.path(), backends());
  window.setScheme(arguments.value(QStringLiteral("theme")) == QLatin1String("dark") ? Scheme::Dark
                                                                                     : Scheme::Light);
  spanscope::ui::Screenshots screenshots(window, options);
  int code = 0;
  QObject::connect(&screenshots, &spanscope::ui::Screenshots::finished, &application,
                   [&](const QString& error) {
                     if (!error.isEmpty()) code = fail(error);
                     QApplication::quit();
                   });
  QTimer::singleShot(0, &screenshots, &spanscope::ui::Screenshots::start);
  QApplication::exec();
  return code;
}

/// Writes the pages one after the other, and continues after an error.
int writeLessonPages(const QCommandLineParser& arguments, QApplication& application) {
  int code = 0;
  for (const QString& file : arguments.positionalArguments()) {
    const QTemporaryDir folder;
    QSettings settings(folder.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
    MainWindow window(settings, folder.path(), backends());
    window.setScheme(Scheme::Light);
    spanscope::ui::LessonPageWriter writer(window, file, arguments.value(QStringLiteral("output")));
    QObject::connect(&writer, &spanscope::ui::LessonPageWriter::finished, &application,
                     [&](const QString& error) {
                       for (const QString& line : error.split(QLatin1Char('\n'), Qt::SkipEmptyParts))
                         code = fail(line);
                       QApplication::quit();
                     });
    QTimer::singleShot(0, &writer, &spanscope::ui::LessonPageWriter::start);
    QApplication::exec();
  }
  return code;
}

/// Keeps the retrieval index between sessions, if there is a folder for the index. Removes indexes of older
/// versions.
void keepIndex(MainWindow& window) {
  QDir folder(QStandardPaths::writableLocation(QStandardPaths::CacheLocation));
  if (!folder.mkpath(QStringLiteral("."))) return;
  for (int version = 1; version < spanscope::retrieve::kIndexVersion; ++version)
    folder.remove(QStringLiteral("fragments-%1.index").arg(version));
  const QString name = QStringLiteral("fragments-%1.index").arg(spanscope::retrieve::kIndexVersion);
  window.workspace().engine().setIndexFile(folder.filePath(name));
}

/// Reports an exception that no function has caught. Memory and threads can run out anywhere, also within Qt.
/// Unsaved changes are in the automatically saved files.
[[noreturn]] void endWithReason() {
  const char* reason = "an unexpected error";
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    reason = "there is not enough memory";
  } catch (const std::system_error&) {
    reason = "the system has no free thread or other resource";
  } catch (...) {
  }
  std::fputs("spanscope: ", stderr);
  std::fputs(reason, stderr);
  std::fputs("\n", stderr);
  std::_Exit(3);
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(endWithReason);
  spanscope::holdStandardDescriptors();
  spanscope::reportWriteErrors();
  if (needsNoDisplay(argc, argv)) {
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  } else if (!hasDisplay()) {
    return fail(QStringLiteral("there is no display for a window; use spanq on the command line"));
  }
  spanscope::ui::installMessageHandler();
  QApplication::setOrganizationName(QStringLiteral("Spanscope"));
  QApplication::setApplicationName(QStringLiteral("spanscope"));
  QApplication::setApplicationVersion(QStringLiteral(SPANSCOPE_VERSION));
  QApplication::setDesktopFileName(QStringLiteral("org.spanscope.Spanscope"));
  // Only the theme sets fonts and colours, so that all fonts and colours match.
  QApplication::setDesktopSettingsAware(false);
  QApplication application(argc, argv);
  QApplication::setStyle(QStringLiteral("Fusion"));
  QTranslator own;
  QTranslator ofQt;
  installTranslations(own, ofQt);
  addOwnFonts();

  spanscope::WindowArguments all;
  QCommandLineParser& arguments = all.parser();
  if (arguments.parse(QApplication::arguments())) {
    if (arguments.isSet(all.versionOption()))
      return say(QStringLiteral("spanscope %1\n").arg(QApplication::applicationVersion()));
    if (arguments.isSet(QStringLiteral("help"))) return say(arguments.helpText());
    if (all.asksForManPage()) return say(QString::fromStdString(all.manPage()));
  }
  arguments.process(application);

  if (const QString problem = problemOf(arguments); !problem.isEmpty()) return fail(problem);
  try {
    spanscope::useInstructionSetOfEnvironment();
  } catch (const spanscope::Failure& failure) {
    return fail(QString::fromStdString(failure.error().message()));
  }
  if (arguments.isSet(QStringLiteral("screenshot"))) return takeScreenshots(arguments, application);
  if (arguments.isSet(QStringLiteral("lesson-pages"))) return writeLessonPages(arguments, application);

  // The program ends within this time, even if the window or the engine is busy.
  constexpr std::chrono::milliseconds kTimeToEnd{1500};
  spanscope::ui::EndingSignals signals(kTimeToEnd);
  QSettings settings;
  MainWindow window(settings, spanscope::ui::autosaveDirectory(), backends());
  keepIndex(window);
  window.lessons().setProgram(QApplication::applicationFilePath());
  window.setServersFile(QString::fromStdString(spanscope::workbench::standardServersFile().string()));
  window.setRecentModelsFile(
      QString::fromStdString(spanscope::workbench::standardRecentModelsFile().string()));
  window.workspace().setSpeedFile(QString::fromStdString(spanscope::workbench::standardSpeedFile().string()));
  if (arguments.isSet(QStringLiteral("theme"))) {
    window.setScheme(arguments.value(QStringLiteral("theme")) == QLatin1String("dark") ? Scheme::Dark
                                                                                       : Scheme::Light);
  }
  QObject::connect(&signals, &spanscope::ui::EndingSignals::received, &window, [&window](int signal) {
    constexpr int kEndedBySignal = 128;  // as shells count
    window.leave();
    QApplication::exit(kEndedBySignal + signal);
  });
  window.show();
  if (arguments.isSet(QStringLiteral("exit-after-startup"))) {
    QTimer::singleShot(0, &window, [] { QApplication::quit(); });
    return QApplication::exec();
  }
  QTimer::singleShot(0, &window, [&] {
    window.restoreSession();
    if (const QStringList files = arguments.positionalArguments(); !files.isEmpty()) window.openFiles(files);
    window.offerRecovery();
  });
  return QApplication::exec();
}
