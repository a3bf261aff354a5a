// SPDX-License-Identifier: GPL-3.0-or-later
// PDFs that were made to need memory or time without bound: each ends in an error, and this program goes on.
#include "engine/retrieve/pdf_text.h"
#include "tests/engine/retrieve/pdf_writer.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTest>

#include <chrono>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

using namespace spanscope;
using namespace spanscope::retrieve;
using namespace std::chrono_literals;

namespace {

using Result = std::variant<PdfText, Error>;

/// Forms that show the next one ten times each: `depth` of them show 10^depth.
std::string formsWithinForms(int depth) {
  std::string pdf =
      "%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n"
      "2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n"
      "3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R"
      "/Resources<</XObject<</X 5 0 R>>>>>>\nendobj\n"
      "4 0 obj\n<</Length 5>>\nstream\n/X Do\nendstream\nendobj\n";
  std::string shown;
  for (int i = 0; i < 10; ++i) shown += "/X Do ";
  for (int i = 5; i < 5 + depth; ++i) {
    pdf += std::to_string(i) + " 0 obj\n<</Length " + std::to_string(shown.size()) +
           "/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X " + std::to_string(i + 1) +
           " 0 R>>>>>>\nstream\n" + shown + "\nendstream\nendobj\n";
  }
  return pdf + "trailer\n<</Root 1 0 R>>\n%%EOF\n";
}

/// A page whose content is these bytes.
std::string pageOf(const std::string& content, const std::string& filter = {}) {
  return "%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n"
         "2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n"
         "3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>\nendobj\n"
         "4 0 obj\n<</Length " +
         std::to_string(content.size()) + filter + ">>\nstream\n" + content + "\nendstream\nendobj\n" +
         "trailer\n<</Root 1 0 R>>\n%%EOF\n";
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  result.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

/// As zlib writes them; `times` times over.
std::string deflated(std::string bytes, int times) {
  for (int i = 0; i < times; ++i) {
    const QByteArray packed =
        qCompress(reinterpret_cast<const uchar*>(bytes.data()), static_cast<int>(bytes.size()), 9);
    bytes = packed.mid(4).toStdString();  // the first four bytes are Qt's own
  }
  return bytes;
}

constexpr PdfLimits kSmall{.memory = std::size_t{256} << 20U, .processor = 1s};

}  // namespace

class TestPdfText : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void hostileFilesEndInAnError_data();
  void hostileFilesEndInAnError();
  void theFilesOfOthersEnd_data();
  void theFilesOfOthersEnd();
  void aStopEndsIt();
  void limitsGrowWithTheFile();
  void lettersArePlain_data();
  void lettersArePlain();
};

void TestPdfText::hostileFilesEndInAnError_data() {
  QTest::addColumn<QByteArray>("pdf");
  const auto row = [](const char* name, const std::string& pdf) {
    QTest::newRow(name) << QByteArray::fromStdString(pdf);
  };
  row("forms within forms", formsWithinForms(12));
  row("nested q", pageOf(repeated("q ", 5'000'000)));
  row("packed twice",
      pageOf(deflated(repeated("0 0 m 1 1 l S ", 10'000'000), 2), "/Filter[/FlateDecode/FlateDecode]"));
}

void TestPdfText::hostileFilesEndInAnError() {
  QFETCH(QByteArray, pdf);
  const Result result = readPdf(pdf.toStdString(), kSmall);
  QVERIFY(std::holds_alternative<Error>(result));
  const Error& error = std::get<Error>(result);
  QVERIFY(!error.found.empty() && !error.expected.empty());
  // The next one is read as ever.
  const Result good = readPdf(retrieve::test::pdfOf({"Mira lives in Lisbon."}), kSmall);
  QVERIFY(std::holds_alternative<PdfText>(good));
  QVERIFY(std::get<PdfText>(good).pages.front().starts_with("Mira lives in Lisbon."));
}

void TestPdfText::theFilesOfOthersEnd_data() {
  QTest::addColumn<QString>("path");
  const QDir folder(QStringLiteral(SPANSCOPE_GOLDEN_DIR "/../cases/hostile"));
  const QStringList names = folder.entryList({QStringLiteral("*.pdf")}, QDir::Files, QDir::Name);
  for (const QString& name : names) QTest::newRow(qPrintable(name)) << folder.filePath(name);
  if (names.isEmpty()) QTest::newRow("none") << QString();
}

void TestPdfText::theFilesOfOthersEnd() {
  QFETCH(QString, path);
  if (path.isEmpty()) QSKIP("the folder of cases is not here");
  QFile file(path);
  QVERIFY(file.open(QIODevice::ReadOnly));
  QVERIFY(std::holds_alternative<Error>(readPdf(file.readAll().toStdString(), kSmall)));
}

void TestPdfText::aStopEndsIt() {
  std::stop_source stop;
  std::jthread stopper([&stop] {
    std::this_thread::sleep_for(100ms);
    stop.request_stop();
  });
  const PdfLimits limits{.processor = 3600s};
  QVERIFY(std::holds_alternative<Error>(readPdf(formsWithinForms(12), limits, stop.get_token())));
}

void TestPdfText::limitsGrowWithTheFile() {
  QVERIFY(pdfLimits(3000).processor < 30s);
  QVERIFY(pdfLimits(std::size_t{4} << 20U).processor > 60s);
  QCOMPARE(pdfLimits(std::size_t{1} << 40U).processor.count(), (300s).count());
}

void TestPdfText::lettersArePlain_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("plain");
  QTest::newRow("ligatures") << QStringLiteral(
                                    "e\uFB03cient \uFB01nance, \uFB02ow, o\uFB00, ba\uFB04e, \uFB06\uFB05")
                             << QStringLiteral("efficient finance, flow, off, baffle, stst");
  QTest::newRow("soft hyphen") << QStringLiteral("und\u00ADerst\u00ADandable")
                               << QStringLiteral("understandable");
  QTest::newRow("at the end of a line")
      << QStringLiteral("under\u00AD\n  standable dog") << QStringLiteral("understandable dog");
  QTest::newRow("others") << QStringLiteral("Gr\u00FC\u00DFe, \u65E5\u672C\n\f")
                          << QStringLiteral("Gr\u00FC\u00DFe, \u65E5\u672C\n\f");
}

void TestPdfText::lettersArePlain() {
  QFETCH(QString, text);
  QFETCH(QString, plain);
  QCOMPARE(QString::fromStdString(withPlainLetters(text.toStdString())), plain);
}

SPANSCOPE_TEST(tst_pdf_text, TestPdfText, QCoreApplication)
#include "tst_pdf_text.moc"
