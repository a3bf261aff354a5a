// SPDX-License-Identifier: GPL-3.0-or-later
// What `cmake --install` makes: programs that find what they open wherever the whole is moved to, and all
// that a system wants to know of them.
#include "tests/engine/retrieve/pdf_writer.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QIODevice>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QProcessEnvironment>
#include <QRegularExpression>
#include <QRegularExpressionMatchIterator>
#include <QStandardPaths>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <string>

using spanscope::product_text::worded;

namespace {

const QString kLibraryName = QStringLiteral("libspanscope_cuda.so");
const QString kId = QStringLiteral("org.spanscope.Spanscope");

struct Said {
  int code = -1;
  QString out;
  QString err;
};

Said run(const QString& program, const QStringList& arguments, const QString& folder = QStringLiteral("/")) {
  QProcess process;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert(QStringLiteral("LC_ALL"), QStringLiteral("C.UTF-8"));
  process.setProcessEnvironment(environment);
  process.setWorkingDirectory(folder);
  process.start(program, arguments);
  if (!process.waitForFinished(60'000)) return {};
  return {process.exitCode(), QString::fromUtf8(process.readAllStandardOutput()),
          QString::fromUtf8(process.readAllStandardError())};
}

}  // namespace

class TestInstallTree : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QProcess cmake;
    const QString first = m_folder.filePath(QStringLiteral("first"));
    cmake.start(QStringLiteral(SPANSCOPE_CMAKE),
                {QStringLiteral("--install"), QStringLiteral(SPANSCOPE_BUILD_DIR), QStringLiteral("--prefix"),
                 first, QStringLiteral("--strip")});
    QVERIFY(cmake.waitForFinished(120'000));
    QVERIFY2(cmake.exitCode() == 0, cmake.readAllStandardError().constData());
    // Nothing knows where it was installed.
    QVERIFY(QDir().rename(first, path("moved elsewhere")));
  }

  void everythingIsThere_data() {
    QTest::addColumn<QString>("file");
    const auto row = [](const QString& file) { QTest::newRow(qPrintable(file)) << file; };
    for (const char* program : {"/spanq", "/spanscope"})
      row(QStringLiteral(SPANSCOPE_INSTALLED_PROGRAMS) + QLatin1String(program));
    row(QStringLiteral("share/applications/") + kId + QStringLiteral(".desktop"));
    row(QStringLiteral("share/metainfo/") + kId + QStringLiteral(".metainfo.xml"));
    row(QStringLiteral("share/mime/packages/") + kId + QStringLiteral(".xml"));
    row(QStringLiteral("share/icons/hicolor/scalable/apps/") + kId + QStringLiteral(".svg"));
    for (const char* file :
         {"share/bash-completion/completions/spanq", "share/zsh/site-functions/_spanq",
          "share/fish/vendor_completions.d/spanq.fish", "share/man/man1/spanscope.1.gz",
          "share/man/man1/spanq.1.gz", "share/doc/spanscope/copyright", "share/spanscope/manual/index.md",
          "share/spanscope/lessons/0-first-steps.md", "share/spanscope/queries/rag.json",
          "share/spanscope/models/spanlet/model.safetensors"})
      row(QString::fromLatin1(file));
    row(QStringLiteral(SPANSCOPE_INSTALLED_PDF_PROGRAM));
    row(QStringLiteral(SPANSCOPE_INSTALLED_TEMPLATE_PROGRAM));
  }

  void everythingIsThere() {
    QFETCH(QString, file);
    QVERIFY(QFileInfo(installed(file)).isFile());
    QVERIFY(QFileInfo(installed(file)).size() > 0);
  }

  /// As the list of commands has them.
  void everyCommandHasAPage() {
    const Said help = run(spanq(), {QStringLiteral("--help")});
    QCOMPARE(help.code, 0);
    QStringList expected{QStringLiteral("spanq.1.gz"), QStringLiteral("spanscope.1.gz")};
    const QRegularExpression line(QStringLiteral("^  ([a-z]+) "), QRegularExpression::MultilineOption);
    for (QRegularExpressionMatchIterator each = line.globalMatch(
             help.out.section(QStringLiteral("\nSubcommands:\n"), 1).section(QStringLiteral("\n\n"), 0, 0));
         each.hasNext();)
      expected << QStringLiteral("spanq-%1.1.gz").arg(each.next().captured(1));
    QVERIFY(expected.size() > 10);
    expected.sort();
    QCOMPARE(QDir(installed(QStringLiteral("share/man/man1"))).entryList(QDir::Files, QDir::Name), expected);
  }

  void thePageOfTheWindowHasWhatItsHelpHas() {
    const QString program = installed(QStringLiteral(SPANSCOPE_INSTALLED_PROGRAMS "/spanscope"));
    const Said help = run(program, {QStringLiteral("--help")});
    const QString file = installed(QStringLiteral("share/man/man1/spanscope.1.gz"));
    const QString page = run(QStringLiteral("gzip"), {QStringLiteral("-dc"), file}).out;
    const QRegularExpression option(QStringLiteral("--[a-z-]+"));
    int found = 0;
    for (QRegularExpressionMatchIterator each = option.globalMatch(help.out); each.hasNext(); ++found) {
      const QString name = each.next().captured();
      // What Qt adds for its own options.
      if (name == QLatin1String("--help-all")) continue;
      const QString inPage = QString(name).replace(QLatin1Char('-'), QLatin1String("\\-"));
      QVERIFY2(page.contains(QStringLiteral("\\fB%1\\fR").arg(inPage)), qPrintable(name));
    }
    QVERIFY2(found > 6, qPrintable(help.out));
    QVERIFY(!page.contains(QLatin1String("man\\-page")));
    if (QStandardPaths::findExecutable(QStringLiteral("man")).isEmpty()) QSKIP("there is no man");
    const Said read =
        run(QStringLiteral("man"), {QStringLiteral("--warnings"), QStringLiteral("--local-file"), file});
    QCOMPARE(read.code, 0);
    QCOMPARE(read.err, QString());
    QVERIFY(read.out.contains(QLatin1String("SYNOPSIS\n")));
  }

  void examplesRunFromAnyFolder() {
    const Said answer =
        run(spanq(), {QStringLiteral("run"), installed(QStringLiteral("share/spanscope/queries/rag.json"))});
    QVERIFY2(answer.code == 0, qPrintable(answer.err));
    QVERIFY2(answer.out.contains(QLatin1String("The pet of Tarek is Biscuit.")), qPrintable(answer.out));
  }

  /// By the program that reads them, wherever the whole was moved to.
  void pdfsAreRead() {
    const QString folder = m_folder.filePath(QStringLiteral("pdf"));
    QVERIFY(QDir().mkpath(folder));
    const auto write = [&folder](const QString& name, const QByteArray& bytes) {
      QFile file(folder + QLatin1Char('/') + name);
      return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size();
    };
    const std::string pdf = spanscope::retrieve::test::pdfOf({"Mira lives in Lisbon."});
    QVERIFY(write(QStringLiteral("a.pdf"), QByteArray::fromStdString(pdf)));
    QVERIFY(write(QStringLiteral("q.json"),
                  R"({"g":{"model":"","max_tokens":1,"input":{"augment":{"embedding_model":"none",)"
                  R"("body":{"user":"Lisbon"},"doc":["a.pdf",{"Text":""}]}}}})"));
    const Said plan = run(spanq(), {QStringLiteral("explain"), folder + QStringLiteral("/q.json")});
    QVERIFY2(plan.code == 0, qPrintable(plan.err));
    QVERIFY2(plan.out.contains(QLatin1String("Mira lives in Lisbon.")), qPrintable(plan.out + plan.err));
  }

  /// Without what it came with it does not fall back to the sources.
  void onlyItsOwnModelIsTaken() {
    const QString models = installed(QStringLiteral("share/spanscope/models"));
    QVERIFY(QDir().rename(models, models + QStringLiteral(" away")));
    const Said refused = run(spanq(), {QStringLiteral("run"), QStringLiteral("/no/such/query.json")});
    const Said without =
        run(spanq(), {QStringLiteral("run"), installed(QStringLiteral("share/spanscope/queries/rag.json"))});
    QVERIFY(QDir().rename(models + QStringLiteral(" away"), models));
    QCOMPARE(refused.code, 1);
    QCOMPARE(without.code, 1);
    QVERIFY2(without.err.contains(installed(QStringLiteral("share/spanscope"))), qPrintable(without.err));
    QVERIFY2(!without.err.contains(QStringLiteral(SPANSCOPE_SOURCE_DIR)), qPrintable(without.err));
  }

  void nothingNamesTheMachineItWasBuiltOn() {
    const QByteArray sources(SPANSCOPE_SOURCE_DIR);
    const QByteArray build(SPANSCOPE_BUILD_DIR);
    int count = 0;
    for (QDirIterator each(m_root, QDir::Files, QDirIterator::Subdirectories); each.hasNext(); ++count) {
      QFile file(each.next());
      QVERIFY(file.open(QIODevice::ReadOnly));
      const QByteArray bytes = file.readAll();
      QVERIFY2(!bytes.contains(sources) && !bytes.contains(build), qPrintable(file.fileName()));
    }
    QVERIFY(count > 100);
  }

  void theDesktopCanReadIt_data() {
    QTest::addColumn<QString>("program");
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("menu") << QStringLiteral("desktop-file-validate")
                          << QStringList{QStringLiteral("share/applications/%1.desktop").arg(kId)};
    QTest::newRow("description") << QStringLiteral("appstreamcli")
                                 << QStringList{QStringLiteral("validate"), QStringLiteral("--no-net"),
                                                QStringLiteral("share/metainfo/%1.metainfo.xml").arg(kId)};
    QTest::newRow("file types") << QStringLiteral("update-mime-database")
                                << QStringList{QStringLiteral("share/mime")};
  }

  void theDesktopCanReadIt() {
    QFETCH(QString, program);
    QFETCH(QStringList, arguments);
    if (QStandardPaths::findExecutable(program).isEmpty()) QSKIP(qPrintable("there is no " + program));
    const Said said = run(program, arguments, m_root);
    QVERIFY2(said.code == 0, qPrintable(said.out + said.err));
  }

  void theLibraryForCardsIsInstalled() {
    if (!SPANSCOPE_HAS_CUDA) QSKIP("this build has no library for cards");
    QVERIFY(QFileInfo(library()).isFile());
    // Whatever is in the way is no matter of files: there may be no driver.
    const QString reason = cards().first().toObject().value(QStringLiteral("obstacle")).toString();
    for (const char* word : {"not built", "cannot open", "another version", ".so"})
      QVERIFY2(!reason.contains(QLatin1String(word)), qPrintable(reason));
  }

  /// The emulated card in place of those that the machine may have.
  void programsFindItThere() {
    QVERIFY(QDir().mkpath(QFileInfo(library()).path()));
    QFile::remove(library());
    QCOMPARE(cards().first().toObject().value(QStringLiteral("obstacle")).toString(),
             worded("<not-built-in>"));
    QVERIFY(QFile::copy(QStringLiteral(SPANSCOPE_EMULATED_LIBRARY), library()));
    const QJsonObject card = cards().first().toObject();
    QCOMPARE(card.value(QStringLiteral("device")).toString(), QStringLiteral("cuda:0"));
    QVERIFY(card.value(QStringLiteral("is_usable")).toBool());
    QVERIFY(card.value(QStringLiteral("description")).toString().contains(QLatin1String("emulated card")));
  }

 private:
  QString path(const char* name) const { return m_folder.filePath(QString::fromLatin1(name)); }
  QString installed(const QString& file) const { return m_root + QLatin1Char('/') + file; }
  QString spanq() const { return installed(QStringLiteral(SPANSCOPE_INSTALLED_PROGRAMS "/spanq")); }
  QString library() const {
    return installed(QStringLiteral(SPANSCOPE_INSTALLED_LIBRARIES) + QLatin1Char('/') + kLibraryName);
  }

  /// What the installed program says of cards.
  QJsonArray cards() const {
    const Said devices = run(spanq(), {QStringLiteral("devices"), QStringLiteral("--json")});
    if (devices.code != 0) qFatal("%s", qPrintable(devices.err));
    QJsonArray cards;
    const QJsonObject said = QJsonDocument::fromJson(devices.out.toUtf8()).object();
    for (const auto& device : said.value(QStringLiteral("devices")).toArray()) {
      if (device.toObject().value(QStringLiteral("device")).toString().startsWith(QLatin1String("cuda")))
        cards.append(device);
    }
    if (cards.isEmpty()) qFatal("no word on cards");
    return cards;
  }

  QTemporaryDir m_folder;
  QString m_root = path("moved elsewhere");
};

SPANSCOPE_TEST(tst_install_tree, TestInstallTree)
#include "tst_install_tree.moc"
