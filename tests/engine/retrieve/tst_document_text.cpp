// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/utf8.h"
#include "engine/retrieve/document_text.h"
#include "engine/retrieve/pdf_text.h"
#include "tests/engine/retrieve/pdf_writer.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>
#include <string>
#include <string_view>

using namespace spanscope;
using namespace spanscope::retrieve;
using spanscope::product_text::worded;

Q_DECLARE_METATYPE(DocumentFormat)

namespace {

using DocumentUnits = std::vector<DocumentUnit>;
using Result = std::variant<DocumentText, Error>;

const DocumentUnits& unitsIn(const Result& result) {
  return std::get<DocumentText>(result).units;
}

QStringList shown(const DocumentUnits& units) {
  QStringList list;
  for (const DocumentUnit& unit : units) list.append(QString::fromStdString(unit.text));
  return list;
}

/// The bytes of UTF-16.
QByteArray wide(std::u16string_view text, bool isLittle) {
  QByteArray bytes;
  for (const char16_t unit : text) {
    const char low = static_cast<char>(unit & 0xFFU);
    const char high = static_cast<char>(unit >> 8U);
    bytes.append(isLittle ? low : high).append(isLittle ? high : low);
  }
  return bytes;
}

std::uint32_t testSeed() {
  bool given = false;
  const auto seed = static_cast<std::uint32_t>(qEnvironmentVariableIntValue("SPANSCOPE_TEST_SEED", &given));
  qInfo("SPANSCOPE_TEST_SEED=%u", given ? seed : 5141);
  return given ? seed : 5141;
}

}  // namespace

class TestDocumentText : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void formats_data();
  void formats();
  void units_data();
  void units();
  void errors_data();
  void errors();
  void pdfHasAUnitPerPage();
  void pdfsWithoutTextAreToldApart_data();
  void pdfsWithoutTextAreToldApart();
  void damagedPagesAreNamed();
  void unitsHaveTheirPlace();
  void damagedPdfIsAnError();
  void deepJsonLineIsRead();
  void tooLargeIsAnError();
  void randomBytesGiveTextOrAnError_data();
  void randomBytesGiveTextOrAnError();
};

void TestDocumentText::formats_data() {
  QTest::addColumn<QString>("name");
  QTest::addColumn<QByteArray>("bytes");
  QTest::addColumn<DocumentFormat>("format");
  QTest::newRow("no extension") << "notes" << QByteArray() << DocumentFormat::PlainText;
  QTest::newRow("text") << "notes.txt" << QByteArray() << DocumentFormat::PlainText;
  QTest::newRow("unknown") << "a.md.bak" << QByteArray() << DocumentFormat::PlainText;
  QTest::newRow("Markdown") << "READ.ME.Md" << QByteArray() << DocumentFormat::Markdown;
  QTest::newRow("JSON lines") << "x.jsonl" << QByteArray() << DocumentFormat::JsonLines;
  QTest::newRow("ndjson") << "x.ndjson" << QByteArray() << DocumentFormat::JsonLines;
  QTest::newRow("CSV") << "x.CSV" << QByteArray() << DocumentFormat::Csv;
  QTest::newRow("TSV") << "x.tsv" << QByteArray() << DocumentFormat::Csv;
  QTest::newRow("PDF by name") << "x.pdf" << QByteArray() << DocumentFormat::Pdf;
  QTest::newRow("PDF by its bytes") << "x.txt" << QByteArray("%PDF-1.7\n") << DocumentFormat::Pdf;
}

void TestDocumentText::formats() {
  QFETCH(QString, name);
  QFETCH(QByteArray, bytes);
  QFETCH(DocumentFormat, format);
  QCOMPARE(formatOf(name.toStdString(), bytes.toStdString()), format);
}

void TestDocumentText::units_data() {
  QTest::addColumn<DocumentFormat>("format");
  QTest::addColumn<QByteArray>("bytes");
  QTest::addColumn<QStringList>("expected");
  const auto plain = DocumentFormat::PlainText;
  QTest::newRow("text") << plain << QByteArray("a\n\nb") << QStringList{"a\n\nb"};
  QTest::newRow("nothing") << plain << QByteArray() << QStringList{};
  QTest::newRow("blank text") << plain << QByteArray(" \r\n\t") << QStringList{};
  QTest::newRow("byte order mark") << plain << QByteArray("\xEF\xBB\xBFx") << QStringList{"x"};
  QTest::newRow("invalid UTF-8") << plain << QByteArray("a\xFFz")
                                 << QStringList{QString::fromUtf8("a\uFFFDz")};

  const QStringList mira{"Mira: \u00e9 \U0001F999"};
  QTest::newRow("UTF-16, lowest byte first") << plain << wide(u"\uFEFFMira: \u00e9 \U0001F999", true) << mira;
  QTest::newRow("UTF-16, highest byte first")
      << plain << wide(u"\uFEFFMira: \u00e9 \U0001F999", false) << mira;
  QTest::newRow("UTF-16 without a mark") << plain << wide(u"Mira: \u00e9 \U0001F999", true) << mira;
  QTest::newRow("UTF-16 without a mark, highest byte first")
      << plain << wide(u"Mira: \u00e9 \U0001F999", false) << mira;
  QTest::newRow("JSON lines with a comma")
      << DocumentFormat::JsonLines << QByteArray("{\"text\":\"a\"},\n{\"text\":\"b\"} , \n")
      << QStringList{QStringLiteral("a"), QStringLiteral("b")};
  QTest::newRow("JSON lines that end in carriage returns")
      << DocumentFormat::JsonLines << QByteArray("{\"text\":\"a\"}\r{\"text\":\"b\"}\r")
      << QStringList{QStringLiteral("a"), QStringLiteral("b")};
  QTest::newRow("UTF-8 with a zero byte")
      << plain << QByteArray("a,b\n1,\0\n", 8) << QStringList{QString::fromLatin1("a,b\n1,\0\n", 8)};
  QTest::newRow("UTF-16 in Cyrillic") << plain << wide(u"\u041c\u0438\u0440 \u0442\u0443\u0442", true)
                                      << QStringList{"\u041c\u0438\u0440 \u0442\u0443\u0442"};
  QTest::newRow("half of a pair") << plain << wide(std::u16string(u"\uFEFFab") + char16_t(0xD800), true)
                                  << QStringList{"ab\uFFFD"};
  QTest::newRow("UTF-32") << plain << QByteArray("\xFF\xFE\0\0M\0\0\0\x99\xF9\1\0", 12)
                          << QStringList{"M\U0001F999"};
  QTest::newRow("a mark alone") << plain << QByteArray("\xFF\xFE") << QStringList{"\uFFFD\uFFFD"};
  // Zero bytes that are no text in any order.
  QTest::newRow("zero byte") << plain << QByteArray("ab\0cd\0", 6)
                             << QStringList{QString::fromLatin1("ab\0cd\0", 6)};

  const auto markdown = DocumentFormat::Markdown;
  QTest::newRow("sections") << markdown << QByteArray("intro\n# One\ntext\n## Two\nmore\n")
                            << QStringList{"intro\n", "# One\ntext\n", "## Two\nmore\n"};
  QTest::newRow("no heading") << markdown << QByteArray("#tag\n####### seven\n    # code")
                              << QStringList{"#tag\n####### seven\n    # code"};
  QTest::newRow("fenced") << markdown << QByteArray("```sh\n# comment\n~~~\n```\n# Real\n")
                          << QStringList{"```sh\n# comment\n~~~\n```\n", "# Real\n"};

  const auto lines = DocumentFormat::JsonLines;
  QTest::newRow("field text") << lines << QByteArray("{\"id\":\"1\",\"text\":\"a\",\"content\":\"b\"}\n")
                              << QStringList{"a"};
  QTest::newRow("field content") << lines << QByteArray("{\"text\":3,\"content\":\"b\"}") << QStringList{"b"};
  QTest::newRow("all strings") << lines
                               << QByteArray("{\"a\":\"x\",\"b\":[1,\"y\",{\"c\":\"z\"}],\"d\":\"w\"}")
                               << QStringList{"x\ny\nz\nw"};
  QTest::newRow("line a unit") << lines << QByteArray("\"one\"\r\n\n\"two\"\n3\n")
                               << QStringList{"one", "two"};

  QTest::newRow("fields in their order")
      << lines << QByteArray(R"({"title":"z","body":"a","note":"b"})") << QStringList{"z\na\nb"};
  QTest::newRow("numbers that JSON lacks")
      << lines << QByteArray(R"({"text":"a","n":1e400,"x":[nan,-inf,+Infinity,-1.5e3,0]})")
      << QStringList{"a"};
  QTest::newRow("half a character") << lines
                                    << QByteArray(R"({"text":"\ud83d a \ud83e\udd99 \\ud83d \udd99"})")
                                    << QStringList{QStringLiteral("\uFFFD a \U0001F999 \\ud83d \uFFFD")};
  QTest::newRow("no number") << lines << QByteArray(R"({"text":"NaN \" NaN","score":NaN,"least":-Infinity})")
                             << QStringList{"NaN \" NaN"};

  const auto csv = DocumentFormat::Csv;
  QTest::newRow("semicolons") << csv << QByteArray("Name;Text\r\nTarek;\"a; b, \"\"c\"\"\"\r\nMira;1,5\r\n")
                              << QStringList{"Name, Text", "Tarek, a; b, \"c\"", "Mira, 1,5"};
  QTest::newRow("tabs") << csv << QByteArray("name\ttext\na\tb, c\n") << QStringList{"name, text", "a, b, c"};
  QTest::newRow("a semicolon in a text")
      << csv << QByteArray("a,b\nx; y,z\n") << QStringList{"a, b", "x; y, z"};
  QTest::newRow("quote within") << csv << QByteArray("a,the 12\" pet\nb,c")
                                << QStringList{"a, the 12\" pet", "b, c"};
  QTest::newRow("records") << csv << QByteArray("a,b\r\n\r\nc,\n,d") << QStringList{"a, b", "c", "d"};
  QTest::newRow("carriage returns alone") << csv << QByteArray("a,b\rc,d\r") << QStringList{"a, b", "c, d"};
  QTest::newRow("quoted") << csv << QByteArray("\"a,\"\"b\"\"\",\"two\nlines\"\r\nc")
                          << QStringList{"a,\"b\", two\nlines", "c"};
  QTest::newRow("empty quoted") << csv << QByteArray("\"\",x\n\"\"") << QStringList{"x"};
}

void TestDocumentText::units() {
  QFETCH(DocumentFormat, format);
  QFETCH(QByteArray, bytes);
  QFETCH(QStringList, expected);
  const Result result = readUnits("document", format, bytes.toStdString());
  QVERIFY(std::holds_alternative<DocumentText>(result));
  QCOMPARE(shown(unitsIn(result)), expected);
}

void TestDocumentText::errors_data() {
  QTest::addColumn<DocumentFormat>("format");
  QTest::addColumn<QByteArray>("bytes");
  QTest::addColumn<QString>("message");
  const auto csv = DocumentFormat::Csv;
  QTest::newRow("no JSON") << DocumentFormat::JsonLines << QByteArray("1\n{\"a\":\n")
                           << worded("doc: line 2: Spanscope found \"{\"a\":\", but needs <json-value-ends>");
  QTest::newRow("unended quote")
      << csv << QByteArray("a\n\"b\n\nc")
      << worded("doc: line 2: Spanscope found <quoted-field-without>, but needs a closing quote");
  QTest::newRow("text after a quote")
      << csv << QByteArray("\"a\nb\"c")
      << worded("doc: line 2: Spanscope found <text-after-quoted>, but needs a comma or <end-line>");
  QTest::newRow("JSON over several lines")
      << DocumentFormat::JsonLines << QByteArray("[\n{\"text\":\"a\"},\n{\"text\":NaN}\n]\n")
      << worded("doc: line 1: Spanscope found <json-value-over>, but needs <json-value-each>");
  QTest::newRow("no PDF") << DocumentFormat::Pdf << QByteArray("hello")
                          << worded("doc: Spanscope found <bytes-no-pdf>, but needs a PDF");
  QTest::newRow("empty PDF") << DocumentFormat::Pdf << QByteArray()
                             << worded("doc: Spanscope found an empty file, but needs <pdf-can-read>");
}

void TestDocumentText::errors() {
  QFETCH(DocumentFormat, format);
  QFETCH(QByteArray, bytes);
  QFETCH(QString, message);
  const Result result = readUnits("doc", format, bytes.toStdString());
  QVERIFY(std::holds_alternative<Error>(result));
  QCOMPARE(QString::fromStdString(std::get<Error>(result).message()), message);
}

void TestDocumentText::pdfHasAUnitPerPage() {
  const std::string pdf = retrieve::test::pdfOf({"Mira lives in Lisbon.", "", "Tarek is a baker."});
  const Result result = readUnits("a.pdf", DocumentFormat::Pdf, pdf);
  QVERIFY(std::holds_alternative<DocumentText>(result));
  QStringList found = shown(unitsIn(result));
  for (QString& unit : found) unit = unit.trimmed();
  QCOMPARE(found, (QStringList{"Mira lives in Lisbon.", "Tarek is a baker."}));
  QCOMPARE(std::get<DocumentText>(result).pagesWithoutText, std::vector<std::size_t>{2});
  const Result pictures = readUnits("a.pdf", DocumentFormat::Pdf, retrieve::test::pdfOf({"", ""}));
  QVERIFY(std::holds_alternative<Error>(pictures));
  QVERIFY(std::get<Error>(pictures).found.starts_with("2 pages without text"));
  QCOMPARE(pagesText({3}), std::string("page 3"));
  QCOMPARE(pagesText({1, 3, 4, 6, 7, 8}), std::string("pages 1, 3, 4, 6–8"));
  QCOMPARE(unitPlace(DocumentFormat::Pdf, unitsIn(result)[1].number), std::string("page 3"));
}

/// Why a PDF gives no text: each cause wants another remedy.
void TestDocumentText::pdfsWithoutTextAreToldApart_data() {
  QTest::addColumn<QByteArray>("pdf");
  QTest::addColumn<QString>("word");
  const auto row = [](const char* name, const std::string& pdf, const char* word) {
    QTest::newRow(name) << QByteArray::fromStdString(pdf) << worded(word);
  };
  const std::string whole = retrieve::test::pdfOf({"Mira lives in Lisbon."});
  const auto with = [&whole](const std::string& from, const std::string& to) {
    std::string pdf = whole;
    const std::size_t at = pdf.find(from);
    return at == std::string::npos ? std::string() : pdf.replace(at, from.size(), to);
  };
  const std::string picture =
      "6 0 obj\n<</Type/XObject/Subtype /Image/Width 1/Height 1/ColorSpace/DeviceGray"
      "/BitsPerComponent 8/Length 1>>\nstream\nx\nendstream\nendobj\n";
  row("cut off", whole.substr(0, whole.size() / 2), "damaged");
  row("its head alone", "%PDF-1.4\n", "damaged");
  row("a page that is not there", with("/Kids [4 0 R", "/Kids [9 0 R"), "damaged");
  row("pages that are not there", with("/Pages 2 0 R", "/Pages 8 0 R"), "damaged");
  row("a content that is not there", with("/Contents 5 0 R", "/Contents 9 0 R"), "damaged");
  row("a content that is no content", with("BT /F1 12 Tf 40 700 Td", std::string(22, '\1')), "damaged");
  row("a password", with("/Root 1 0 R", "/Root 1 0 R /Encrypt <</Filter/Own/V 4/R 4>> /ID[<aa><aa>]"),
      "encrypted");
  row("a scanned page", retrieve::test::pdfOf({""}) + picture, "scanned");
  row("an empty page", retrieve::test::pdfOf({""}), "without pictures");
  row("no pages", retrieve::test::pdfOf({}), "without pages");
  row("an empty file", "", "empty");
  row("another file", "<html>404</html>", "<bytes-no-pdf>");
}

void TestDocumentText::pdfsWithoutTextAreToldApart() {
  QFETCH(QByteArray, pdf);
  QFETCH(QString, word);
  const Result result = readUnits("a.pdf", DocumentFormat::Pdf, pdf.toStdString());
  QVERIFY(std::holds_alternative<Error>(result));
  const Error& error = std::get<Error>(result);
  QVERIFY2(error.found.find(word.toStdString()) != std::string::npos, error.message().c_str());
  QVERIFY(!error.expected.empty());
}

/// A damaged page leaves the others readable, and is not taken for a scanned one.
void TestDocumentText::damagedPagesAreNamed() {
  std::string pdf = retrieve::test::pdfOf({"Mira lives in Lisbon.", "Tarek is a baker.", ""});
  const std::string second = "(Tarek is a baker.) Tj";
  const std::size_t at = pdf.find("BT", pdf.find(second) - 30);
  for (std::size_t i = at; i < pdf.find(second) + second.size(); ++i) pdf[i] = '\1';
  const Result result = readUnits("a.pdf", DocumentFormat::Pdf, pdf);
  QVERIFY(std::holds_alternative<DocumentText>(result));
  QCOMPARE(std::get<DocumentText>(result).damagedPages, std::vector<std::size_t>{2});
  QCOMPARE(std::get<DocumentText>(result).pagesWithoutText, std::vector<std::size_t>{3});
  QCOMPARE(unitsIn(result).size(), std::size_t{1});
}

void TestDocumentText::unitsHaveTheirPlace() {
  const auto placesOf = [](DocumentFormat format, const char* bytes) {
    QStringList places;
    const Result result = readUnits("document", format, bytes);
    for (const DocumentUnit& unit : unitsIn(result))
      places.append(QString::fromStdString(unitPlace(format, unit.number)));
    return places;
  };
  QCOMPARE(placesOf(DocumentFormat::PlainText, "a"), QStringList{""});
  QCOMPARE(placesOf(DocumentFormat::Markdown, "\n# a\n# b"), (QStringList{"section 1", "section 2"}));
  QCOMPARE(placesOf(DocumentFormat::JsonLines, "1\n\n\"a\""), QStringList{"line 3"});
  QCOMPARE(placesOf(DocumentFormat::Csv, "a\n\n\"\"\nb"), (QStringList{"record 1", "record 3"}));
}

void TestDocumentText::damagedPdfIsAnError() {
  const std::string pdf = retrieve::test::pdfOf({"Mira lives in Lisbon."});
  std::mt19937 random(testSeed());
  int errors = 0;
  for (int i = 0; i < 90; ++i) {
    std::string damaged = pdf;
    if (i % 3 == 0) damaged.resize(random() % pdf.size());
    for (int byte = 0; byte < i % 7 && !damaged.empty(); ++byte) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    // Poppler repairs much of it: the test is that it returns.
    if (std::holds_alternative<Error>(readUnits("a.pdf", DocumentFormat::Pdf, damaged))) ++errors;
  }
  QVERIFY(errors > 0);
}

void TestDocumentText::deepJsonLineIsRead() {
  constexpr std::size_t kDepth = 200'000;
  std::string line(kDepth, '[');
  line += "\"deep\"";
  line.append(kDepth, ']');
  const Result result = readUnits("a.jsonl", DocumentFormat::JsonLines, line);
  QVERIFY(std::holds_alternative<DocumentText>(result));
  QCOMPARE(shown(unitsIn(result)), QStringList{"deep"});
}

void TestDocumentText::tooLargeIsAnError() {
  const std::string bytes(kMaxDocumentBytes + 1, 'x');
  const Result result = readUnits("a.txt", DocumentFormat::PlainText, bytes);
  QVERIFY(std::holds_alternative<Error>(result));
  QCOMPARE(std::get<Error>(result).expected, "at most 67108864");
  std::string records;
  for (std::size_t i = 0; i <= kMaxDocumentUnits; ++i) records += "x\n";
  QVERIFY(std::holds_alternative<Error>(readUnits("a.csv", DocumentFormat::Csv, records)));
}

void TestDocumentText::randomBytesGiveTextOrAnError_data() {
  QTest::addColumn<DocumentFormat>("format");
  for (const DocumentFormat format : {DocumentFormat::PlainText, DocumentFormat::Markdown,
                                      DocumentFormat::JsonLines, DocumentFormat::Csv, DocumentFormat::Pdf}) {
    QTest::newRow(formatName(format)) << format;
  }
}

void TestDocumentText::randomBytesGiveTextOrAnError() {
  QFETCH(DocumentFormat, format);
  std::mt19937 random(testSeed());
  const int rounds = format == DocumentFormat::Pdf ? 30 : 3000;  // each PDF starts a program
  const std::string alphabet = "\"\",,\r\n\n#`~~~ {}[]:a\\ud800\xFF\xC3\xA9%PDF-1.4 obj stream";
  for (int i = 0; i < rounds; ++i) {
    std::string bytes;
    for (std::size_t length = random() % 60; length > 0; --length)
      bytes += alphabet[random() % alphabet.size()];
    const Result result = readUnits("document", format, bytes);
    if (const auto* error = std::get_if<Error>(&result)) {
      QVERIFY(!error->found.empty() && !error->expected.empty());
      continue;
    }
    for (const DocumentUnit& unit : unitsIn(result)) {
      QVERIFY(isValidUtf8(unit.text));
      QVERIFY(unit.text.find_first_not_of(" \t\r\n\f\v") != std::string::npos);
    }
  }
}

SPANSCOPE_TEST(tst_document_text, TestDocumentText, QCoreApplication)
#include "tst_document_text.moc"
