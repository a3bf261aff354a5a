// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/text/text_pattern.h"
#include "engine/text/unicode.h"
#include "tests/engine/text/text_test_support.h"
#include "tests/support/processor_timer.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QTest>

#include <utf8proc.h>

#include <array>
#include <cstdlib>
#include <optional>

using namespace spanscope;
using namespace spanscope::text;
using namespace spanscope::text::test;

namespace {

std::unique_ptr<const TextPattern> compile(const std::string& expression) {
  return expressionPattern(expression, "tokenizer.json", "/pre_tokenizer");
}

QString pieces(const TextPattern& pattern, const std::string& text) {
  QStringList found;
  for (const ByteRange& range : pattern.findAll(text)) {
    found << QString::fromStdString(text.substr(range.begin, range.end - range.begin));
  }
  return found.join('|');
}

const std::string kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
const std::string kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
const std::string kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
const std::string kJais2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+)"
    R"(|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S))"
    R"(|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})";

}  // namespace

class TestTextPattern : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void words_data();
  void words();
  void writtenByHandAsByTheLibrary();
  void longWhiteSpaceIsQuick();
  void expressions_data();
  void expressions();
  void translations_data();
  void translations();
  void hostileExpressionsEnd_data();
  void hostileExpressionsEnd();
  void longMatches();
  void normalForms_data();
  void normalForms();
  void longTextsPartByPart_data();
  void longTextsPartByPart();
  void normalFormsOfAnyText_data();
  void normalFormsOfAnyText();
  void manyMarksAreQuick();
};

void TestTextPattern::words_data() {
  QTest::addColumn<int>("pattern");
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("found");
  const auto row = [](WordPattern pattern, const char* text, const char* found) {
    QTest::addRow("%d %s", static_cast<int>(pattern), text) << static_cast<int>(pattern) << text << found;
  };
  row(WordPattern::Gpt2, "Hello world", "Hello| world");
  row(WordPattern::Gpt2, "don't DON'T", "don|'t| DON|'|T");
  row(WordPattern::Gpt2, "a  b", "a| | b");
  row(WordPattern::Gpt2, "a\n\nb \n ", "a|\n|\n|b| \n ");
  row(WordPattern::Gpt2, "12345 x1", "12345| x|1");
  row(WordPattern::Gpt2, " ?! '", " ?!| '");
  row(WordPattern::Llama3, "don't DON'T", "don|'t| DON|'T");
  row(WordPattern::Llama3, "12345 x1", "123|45| x|1");
  row(WordPattern::Llama3, "a\n\nb \n c", "a|\n\n|b| \n| c");
  row(WordPattern::Llama3, "!!\n\nx", "!!\n\n|x");
  row(WordPattern::Llama3, "(word) \tx", "(word|)| |\tx");
  row(WordPattern::Qwen2, "123", "1|2|3");
}

void TestTextPattern::words() {
  QFETCH(int, pattern);
  QFETCH(QString, text);
  QFETCH(QString, found);
  QCOMPARE(pieces(*wordPattern(static_cast<WordPattern>(pattern)), text.toStdString()), found);
}

void TestTextPattern::writtenByHandAsByTheLibrary() {
  struct Pair {
    std::unique_ptr<const TextPattern> known;
    std::unique_ptr<const TextPattern> library;
  };
  std::vector<Pair> pairs;
  for (const std::string& expression : {kGpt2, kLlama3, kQwen2, kJais2}) {
    // Within a group it is not the expression that is known.
    pairs.push_back({compile(expression), compile("(?:" + expression + ")")});
  }
  std::mt19937_64 random(testSeed());
  static const std::array<std::string, 14> kMore = {
      "'S",   "'ll",          "'\xC5\xBF", "\xC2\xA0", "\xC2\x85", "\xE2\x80\xA8", "\xE1\xA0\x8E",
      "1234", "\xE2\x85\xA7", "\xC2\xBD",  "\v",       "  ",       "\U0002EBF0",   "\U00010D40"};
  for (int round = 0; round < 1500; ++round) {
    std::string text = randomText(random, random() % 6);
    for (std::size_t i = random() % 5; i > 0; --i) text += kMore[random() % kMore.size()];
    text += randomText(random, random() % 3);
    if (random() % 8 == 0) {
      text += std::string(random() % 1100, ' ');
      if (random() % 2 == 0) text += kMore[random() % kMore.size()];
    }
    for (const Pair& pair : pairs) QCOMPARE(pair.known->findAll(text), pair.library->findAll(text));
  }
}

/// White space is read once, although each piece is followed by more white space.
void TestTextPattern::longWhiteSpaceIsQuick() {
  constexpr std::size_t kPieces = 2000;
  const std::string text = std::string(512 * kPieces, ' ') + 'x';
  QElapsedTimer timer;
  timer.start();
  const std::vector<ByteRange> found = compile(kJais2)->findAll(text);
  QVERIFY(timer.elapsed() < 1000);
  QCOMPARE(found[kPieces - 2], (ByteRange{512 * (kPieces - 2), 512 * (kPieces - 1)}));
  QCOMPARE(found.back(), (ByteRange{text.size() - 2, text.size()}));
}

void TestTextPattern::expressions_data() {
  QTest::addColumn<QString>("expression");
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("found");
  const auto row = [](const char* expression, const char* text, const char* found) {
    QTest::newRow(expression) << expression << text << found;
  };
  row("x*", "axxb", "xx");
  row("^a", "a\na ba", "a|a");
  row("a$", "a\nba\nab", "a|a");
  row("\\S+",
      "a\xC2\xA0"
      "b\xE1\xA0\x8E"
      "c",
      "a|b\xE1\xA0\x8E"
      "c");
  row("\\w+", "a\xCC\x81_\xD9\xA1-\xC2\xBD", "a\xCC\x81_\xD9\xA1|\xC2\xBD");
  row("\\W+", "a\xC2\xBD!b", "!");
  row("[^\\w]+", "a\xC2\xBD!b", "\xC2\xBD!");
  row("\\p{Han}+", "a\xE6\xBC\xA2\xE3\x80\x82", "\xE6\xBC\xA2");
  row("\\P{^L}+", "ab1", "ab");
  row("(?<=a)b|c(?!d)", "ab b cd c", "b|c");
  row("\\u0061+", "aab", "aa");
  row("\\x{1F600}", "\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80");
  // Letters, digits and marks of Unicode 15.1 and 16.
  row("\\p{L}+", "a\u1C89\U0002EBF0\U00010D50!", "a\u1C89\U0002EBF0\U00010D50");
  row("[^\\s\\p{L}\\p{N}]+", "\U0002EBF0!\U00010D40", "!");
  row("\\P{L}+", "\u1C89!\U000105C0", "!");
  row("\\p{Lu}+", "\u1C89\u1C8A", "\u1C89");
  row("\\d+", "1\U00010D41!", "1\U00010D41");
  row("\\w+", "\U00016D43\U00011F36!", "\U00016D43\U00011F36");
  row(".+", "a\r\nb", "a\r|b");
  row("(?i)ab", "AB aB", "AB|aB");
}

void TestTextPattern::expressions() {
  QFETCH(QString, expression);
  QFETCH(QString, text);
  QFETCH(QString, found);
  QCOMPARE(pieces(*compile(expression.toStdString()), text.toStdString()), found);
}

void TestTextPattern::translations_data() {
  QTest::addColumn<QString>("expression");
  QTest::addColumn<QString>("unsupported");
  const auto row = [](const char* expression, const char* unsupported) {
    QTest::newRow(expression) << expression << unsupported;
  };
  row("a{1,3}", "");
  row("a{2,}?b++c?+", "");
  row("a{1,3}+", "{1,3}+");
  row("a{2}?", "{2}?");
  row("a{,3}", "{,3}");
  row("\\bword", "\\b");
  row("(a)\\1", "\\1");
  row("\\h", "\\h");
  row("a(?i)b", "(?i)");
  row("(?m:a)", "(?m:");
  row("(*UTF)a", "(*");
  row("[[:alpha:]]", "[:");
  row("[a&&b]", "&&");
  row("[\\W]", "\\W");
  row("\\xE9", "\\xE9");
  row("\\p{}", "\\p{}");
  row("[]a]", "]");
  row("a\\", "\\");
}

void TestTextPattern::translations() {
  QFETCH(QString, expression);
  QFETCH(QString, unsupported);
  const TranslatedExpression translated = translateExpression(expression.toStdString());
  QCOMPARE(translated.unsupported.has_value(), !unsupported.isEmpty());
  if (translated.unsupported) {
    const QString named = QString::fromStdString(*translated.unsupported);
    QVERIFY2(named.startsWith("\"" + unsupported + "\" at character"), qPrintable(named));
  }
}

void TestTextPattern::hostileExpressionsEnd_data() {
  QTest::addColumn<QString>("expression");
  QTest::addColumn<QString>("text");
  const QString many = QString(100'000, 'a');
  QTest::newRow("nested repeats") << "(a+)+b" << many;
  QTest::newRow("possessive, then nothing") << "a*+b" << many;
  QTest::newRow("lookahead at every place") << "(?=a*c)a" << many;
  QTest::newRow("alternatives") << "(a|a|a)*b" << many;
  QTest::newRow("nested lookaheads") << "(?=(a*)*b)." << many;
}

void TestTextPattern::hostileExpressionsEnd() {
  QFETCH(QString, expression);
  QFETCH(QString, text);
  const auto pattern = compile(expression.toStdString());
  spanscope::test::ProcessorTimer timer;
  timer.start();
  std::optional<Error> error;
  try {
    pattern->findAll(text.toStdString());
  } catch (const Failure& failure) {
    error = failure.error();
  }
  QVERIFY(error.has_value());
  QVERIFY(error->found.find("regular expression fails") != std::string::npos);
  QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed())));
}

/// Machine code has no room for that many backtracking states; the interpreter has.
void TestTextPattern::longMatches() {
  const auto pattern = compile("(?:ab|a|b)+|c");
  std::string text;
  while (text.size() < 40'000) text += "ab";
  const std::vector<ByteRange> expected = {{0, text.size()}, {text.size(), text.size() + 1}};
  QVERIFY(pattern->findAll(text + "c") == expected);
}

void TestTextPattern::normalForms_data() {
  // Rows of Unicode's annex 15.
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("c");
  QTest::addColumn<QString>("d");
  QTest::addColumn<QString>("kc");
  QTest::newRow("ascii") << "a b"
                         << "a b"
                         << "a b"
                         << "a b";
  QTest::newRow("composed") << u8"\u00E9" << u8"\u00E9" << u8"e\u0301" << u8"\u00E9";
  QTest::newRow("order of marks") << u8"q\u0307\u0323" << u8"q\u0323\u0307" << u8"q\u0323\u0307"
                                  << u8"q\u0323\u0307";
  QTest::newRow("singleton") << u8"\u212B" << u8"\u00C5" << u8"A\u030A" << u8"\u00C5";
  QTest::newRow("ligature") << u8"\uFB01" << u8"\uFB01" << u8"\uFB01" << u8"fi";
  QTest::newRow("hangul") << u8"\uD55C" << u8"\uD55C" << u8"\u1112\u1161\u11AB" << u8"\uD55C";
  QTest::newRow("three marks") << u8"\u1E9B\u0323" << u8"\u1E9B\u0323" << u8"\u017F\u0323\u0307"
                               << u8"\u1E69";
  QTest::newRow("left out of composition")
      << u8"\u0958" << u8"\u0915\u093C" << u8"\u0915\u093C" << u8"\u0915\u093C";
}

void TestTextPattern::normalForms() {
  QFETCH(QString, text);
  QFETCH(QString, c);
  QFETCH(QString, d);
  QFETCH(QString, kc);
  const std::string bytes = text.toStdString();
  QCOMPARE(normalized(bytes, NormalForm::C), c.toStdString());
  QCOMPARE(normalized(bytes, NormalForm::D), d.toStdString());
  QCOMPARE(normalized(bytes, NormalForm::Kc), kc.toStdString());
}

void TestTextPattern::longTextsPartByPart_data() {
  QTest::addColumn<int>("form");
  for (const NormalForm form : {NormalForm::C, NormalForm::D, NormalForm::Kc, NormalForm::Kd})
    QTest::addRow("form %d", static_cast<int>(form)) << static_cast<int>(form);
}

/// The parts of a long text meet anywhere between what belongs together.
void TestTextPattern::longTextsPartByPart() {
  QFETCH(int, form);
  const auto wanted = static_cast<NormalForm>(form);
  static const std::array<std::string, 14> kFragments = {"e",
                                                         "\xCC\x81",
                                                         "\xCC\xA7",
                                                         "\xC3\xA9",
                                                         "\xE1\x84\x80",
                                                         "\xE1\x85\xA1",
                                                         "\xE1\x86\xA8",
                                                         "\xEA\xB0\x80",
                                                         "\xE6\x97\xA5",
                                                         "\xEF\xBE\x9E",
                                                         "\xE3\x82\xAB",
                                                         "\xE0\xB8\xB3",
                                                         "\xE0\xA7\x87",
                                                         "\xE0\xA6\xBE"};
  std::mt19937_64 random(testSeed());
  std::string text;
  std::string expected;
  // No part has anything to do with a digit's other side.
  while (text.size() < 150'000) {
    std::string piece = "1";
    for (std::size_t i = random() % 40; i > 0; --i) piece += kFragments[random() % kFragments.size()];
    text += piece;
    expected += normalized(piece, wanted);
  }
  QVERIFY(normalized(text, wanted) == expected);
}

void TestTextPattern::normalFormsOfAnyText_data() {
  longTextsPartByPart_data();
}

/// What stays as it is is not taken apart; the library takes everything apart.
void TestTextPattern::normalFormsOfAnyText() {
  QFETCH(int, form);
  const auto wanted = static_cast<NormalForm>(form);
  const bool composes = wanted == NormalForm::C || wanted == NormalForm::Kc;
  const bool isCompatible = wanted == NormalForm::Kc || wanted == NormalForm::Kd;
  const auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | (composes ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
                                     (isCompatible ? UTF8PROC_COMPAT : 0));
  // Where marks, letters that they join, and Hangul lie.
  static const std::array<std::pair<std::uint64_t, std::uint64_t>, 8> kRanges = {{{0x20, 0x7F},
                                                                                  {0xA0, 0x250},
                                                                                  {0x300, 0x370},
                                                                                  {0x370, 0x1200},
                                                                                  {0x1100, 0x1200},
                                                                                  {0x3040, 0x3100},
                                                                                  {0xAC00, 0xD7A4},
                                                                                  {0xF900, 0x11000}}};
  std::mt19937_64 random(testSeed());
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::size_t i = random() % 12; i > 0; --i) {
      const auto [first, end] = kRanges[random() % kRanges.size()];
      appendUtf8(text, static_cast<char32_t>(first + random() % (end - first)));
    }
    utf8proc_uint8_t* mapped = nullptr;
    const utf8proc_ssize_t bytes = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                static_cast<utf8proc_ssize_t>(text.size()), &mapped, options);
    QVERIFY(bytes >= 0);
    const std::string expected(reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(bytes));
    std::free(mapped);
    QVERIFY2(normalized(text, wanted) == expected, text.c_str());
  }
}

void TestTextPattern::manyMarksAreQuick() {
  std::string text = "a";
  for (int i = 0; i < 200'000; ++i) text += "\xCC\x81\xCC\xA3";
  spanscope::test::ProcessorTimer timer;
  timer.start();
  const std::string result = normalized(text, NormalForm::D);
  QCOMPARE(result.size(), text.size());
  QCOMPARE(result.substr(0, 5), std::string("a\xCC\xA3\xCC\xA3"));
  QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed())));
}

SPANSCOPE_TEST(tst_text_pattern, TestTextPattern)
#include "tst_text_pattern.moc"
