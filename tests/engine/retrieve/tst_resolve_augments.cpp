// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/files/file_access.h"
#include "engine/query/json/json.h"
#include "engine/retrieve/resolve_augments.h"
#include "tests/engine/retrieve/pdf_writer.h"
#include "tests/engine/retrieve/stand_ins.h"
#include "tests/engine/text/text_test_support.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <functional>
#include <memory>

using namespace spanscope;
using namespace spanscope::retrieve;
using spanscope::product_text::worded;

class TestResolveAugments : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { m_tokenizer = text::loadTokenizer(text::test::bundledModel()); }
  void augmentBecomesAPlus();
  void pdfBytesAreRead();
  void nothingFoundIsAWarning();
  void problems_data();
  void problems();
  void folderIsSearched();
  void patternAndFileAreSearched();
  void whatCannotBeReadIsLeftOut();
  void whatIsNoUtf8IsToldOf();
  void pagesWithoutTextAreNamed();
  void documentsOfOthers_data();
  void documentsOfOthers();
  void halvesOfCharactersAreRemarked();
  void filesThatAreNotThereAreErrors();
  void onlyChangedFilesAreIndexed();
  void modelOfTheAugmentChoosesTheRanking();
  void rankingWithoutAModelIsAnError();
  void pinnedAndDropped();
  void lostPinIsAWarning();
  void summariesAreSearched();
  void canBeStopped();

 private:
  RetrievalTools tools(PassageIndex& index) const {
    RetrievalTools result;
    result.tokenizer = m_tokenizer.get();
    result.index = &index;
    return result;
  }
  ResolvedAugments resolve(const query::Node& node, const RetrievalOptions& options = {}) const {
    PassageIndex index;
    return resolveAugments(node, options, tools(index));
  }

  std::unique_ptr<text::Tokenizer> m_tokenizer;
};

namespace {

query::Node user(std::string text) {
  return {query::Message{.role = query::Role::User, .text = std::move(text)}};
}

query::Node augment(query::Node body, std::string name, std::string text) {
  return {query::Augment{.embeddingModel = "e",
                         .body = std::move(body),
                         .document = {.name = std::move(name), .content = std::move(text)}}};
}

query::Node join(query::JoinKind kind, std::vector<query::Node> children) {
  return {query::Join{.kind = kind, .children = std::move(children)}};
}

/// Reads the files of a folder.
class Folder final : public query::Surroundings {
 public:
  explicit Folder(const QString& path) : m_files(path.toStdString()) {}
  std::variant<std::string, query::NotGiven> readFile(const std::string& path) override {
    ++read;
    return m_files.read(path);
  }
  std::variant<query::FileList, query::NotGiven> listFiles(const std::string& path) override {
    return m_files.list(path);
  }
  std::variant<std::string, query::NotGiven> ask(const std::string&) override {
    return query::NotGiven{"a question", "none", {}};
  }
  int read = 0;

 private:
  query::FileAccess m_files;
};

QStringList promptOf(const ResolvedAugments& resolved) {
  QStringList texts;
  for (const Retrieved& retrieved : resolved.retrieved) {
    for (const FoundPassage& found : retrieved.passages) {
      if (found.isInPrompt) texts << QString::fromStdString(found.ranked.passage.text);
    }
  }
  return texts;
}

QStringList messages(const ResolvedAugments& resolved) {
  QStringList lines;
  for (const query::Diagnostic& diagnostic : resolved.diagnostics)
    lines << QString::fromStdString(diagnostic.message());
  return lines;
}

const char* const kPeople = "Mira lives in Lisbon.\nTarek is a baker.\nOtto lives in Porto.\n";

}  // namespace

void TestResolveAugments::augmentBecomesAPlus() {
  const query::Node node = join(query::JoinKind::Cross,
                                {user("Before"), augment(user("Where does Mira live?"), "a.csv", kPeople)});
  const ResolvedAugments resolved = resolve(node);
  QVERIFY(resolved.query.has_value());
  QVERIFY(hasAugment(node) && !hasAugment(*resolved.query));
  // "Tarek is a baker." shares no word with the question.
  const query::Node expected =
      join(query::JoinKind::Cross,
           {user("Before"),
            join(query::JoinKind::Plus, {user("Mira lives in Lisbon."), user("Otto lives in Porto.")})});
  QCOMPARE(query::writeCanonical(*resolved.query), query::writeCanonical(expected));
  QCOMPARE(resolved.retrieved.size(), std::size_t{1});
  QCOMPARE(resolved.retrieved[0].node, NodePath("/cross/1"));
  RetrievalOptions one;
  one.passages = 1;
  QCOMPARE(promptOf(resolve(node, one)).size(), 1);
  QVERIFY(resolve(user("a")).query == user("a"));
}

void TestResolveAugments::pdfBytesAreRead() {
  const std::string pdf = retrieve::test::pdfOf({"Mira lives in Lisbon.", "Tarek is a baker."});
  const query::Node node = {query::Augment{
      .embeddingModel = "e",
      .body = user("Who is a baker?"),
      .document = {.name = "a", .content = std::vector<std::uint8_t>(pdf.begin(), pdf.end())}}};
  const ResolvedAugments resolved = resolve(node);
  QVERIFY(resolved.query.has_value());
  QVERIFY(*resolved.query == join(query::JoinKind::Plus, {user("Tarek is a baker.")}));
}

void TestResolveAugments::nothingFoundIsAWarning() {
  const ResolvedAugments resolved = resolve(augment(user("quokka"), "a.csv", kPeople));
  QVERIFY(resolved.query == join(query::JoinKind::Plus, {}));
  QCOMPARE(resolved.diagnostics.size(), std::size_t{1});
  QCOMPARE(resolved.diagnostics[0].severity, Severity::Warning);
}

void TestResolveAugments::problems_data() {
  QTest::addColumn<QString>("json");
  QTest::addColumn<QString>("pointer");
  QTest::addColumn<QString>("found");
  const auto row = [](const char* name, const char* body, const char* document, const char* pointer,
                      const char* found) {
    const QString json = QStringLiteral(R"({"seq":[{"augment":{"embedding_model":"e","body":%1,"doc":%2}}]})")
                             .arg(QString::fromUtf8(body), QString::fromUtf8(document));
    QTest::newRow(name) << json << QString(pointer) << worded(found);
  };
  const char* const text = R"(["a.txt",{"Text":"t"}])";
  row("generate", R"({"plus":[{"user":"a"},{"g":{"model":"m","input":{"user":"a"}}}]})", text,
      "/seq/0/augment/body/plus/1", "an operator \"g\"");
  row("ask", R"({"ask":"What?"})", text, "/seq/0/augment/body", "an operator \"ask\"");
  row("document", R"({"user":"a"})", R"(["a.jsonl",{"Text":"{"}])", "/seq/0", "a.jsonl: line 1: \"{\"");
  row("no PDF", R"({"user":"a"})", R"(["a.pdf",{"Binary":[1,2]}])", "/seq/0", "a.pdf: <bytes-no-pdf>");
}

void TestResolveAugments::problems() {
  QFETCH(QString, json);
  QFETCH(QString, pointer);
  QFETCH(QString, found);
  const auto parsed = query::parseJson(json.toStdString());
  QVERIFY(parsed.query.has_value());
  const ResolvedAugments resolved = resolve(*parsed.query);
  QVERIFY(!resolved.query.has_value());
  QCOMPARE(resolved.diagnostics.size(), std::size_t{1});
  QCOMPARE(QString::fromStdString(resolved.diagnostics[0].pointer), pointer);
  QCOMPARE(QString::fromStdString(resolved.diagnostics[0].found), found);
  RetrievalOptions none;
  none.passages = 0;
  QVERIFY(query::hasErrors(resolve(user("a"), none).diagnostics));
}

namespace {

/// A folder of persons: one file each, beside files that are no text.
class PeopleFolder {
 public:
  PeopleFolder() {
    QDir(m_folder.path()).mkpath(QStringLiteral("people/far"));
    QDir(m_folder.path()).mkpath(QStringLiteral("empty"));
    write("people/b.txt", "Tarek is a baker.");
    write("people/a.md", "# Mira\nMira lives in Lisbon.\n");
    write("people/far/c.txt", "Otto lives in Porto.");
    write("people/.hidden.txt", "Nobody lives in Atlantis.");
    write("secret.txt", "Priya lives in Oslo.");
  }
  void write(const char* name, const std::string& bytes) const {
    text::test::writeFile(m_folder.filePath(QString::fromUtf8(name)).toStdString(), bytes);
  }
  QString path() const { return m_folder.path(); }

 private:
  QTemporaryDir m_folder;
};

QStringList sourcesOf(const ResolvedAugments& resolved) {
  QStringList sources;
  for (const FoundPassage& found : resolved.retrieved.at(0).passages)
    sources << QString::fromStdString(found.source);
  return sources;
}

}  // namespace

void TestResolveAugments::folderIsSearched() {
  const PeopleFolder people;
  Folder folder(people.path());
  PassageIndex index;
  RetrievalTools with = tools(index);
  with.files = &folder;
  std::vector<std::size_t> done;
  with.watch.progress = [&](const IndexProgress& now) {
    QCOMPARE(now.total, std::size_t{3});
    done.push_back(now.done);
  };
  const ResolvedAugments resolved = resolveAugments(augment(user("Where lives?"), "people", ""), {}, with);
  QVERIFY(resolved.query.has_value());
  QCOMPARE(resolved.diagnostics.size(), std::size_t{0});
  QCOMPARE(done, (std::vector<std::size_t>{1, 2, 3}));
  QCOMPARE(resolved.retrieved[0].documents, std::size_t{3});
  QStringList sources = sourcesOf(resolved);
  sources.sort();
  QCOMPARE(sources, (QStringList{"people/a.md", "people/far/c.txt"}));
  const auto& found = resolved.retrieved[0].passages;
  const auto markdown = std::find_if(found.begin(), found.end(),
                                     [](const auto& entry) { return entry.source == "people/a.md"; });
  QCOMPARE(markdown->ranked.passage.place, std::string("section 1"));
  QVERIFY(markdown->ranked.lexical.has_value() && !markdown->ranked.embedding);
}

void TestResolveAugments::patternAndFileAreSearched() {
  const PeopleFolder people;
  Folder folder(people.path());
  PassageIndex index;
  RetrievalTools with = tools(index);
  with.files = &folder;
  const auto found = [&](const char* name) {
    QStringList texts = promptOf(resolveAugments(augment(user("lives baker"), name, ""), {}, with));
    texts.sort();
    return texts;
  };
  QCOMPARE(found("people/*.txt"), QStringList{"Tarek is a baker."});
  QCOMPARE(found("people/**/*.txt"), (QStringList{"Otto lives in Porto.", "Tarek is a baker."}));
  QCOMPARE(found("people/b.txt"), QStringList{"Tarek is a baker."});
  QCOMPARE(found("people/far/"), QStringList{"Otto lives in Porto."});
  // A document with a text of its own is that text, whatever its name.
  const auto own = resolveAugments(augment(user("lives"), "people", "Nadia lives here."), {}, with);
  QCOMPARE(promptOf(own), QStringList{"Nadia lives here."});
}

void TestResolveAugments::whatCannotBeReadIsLeftOut() {
  const PeopleFolder people;
  people.write("people/d.pdf", "no PDF at all");
  people.write("people/e.jsonl", "{\n");
  people.write("people/picture.png", std::string("\x89PNG\0\0", 6));
  QVERIFY(QFile::link(people.path() + "/secret.txt", people.path() + "/people/far/out.txt"));
  Folder folder(people.path() + "/people");
  PassageIndex index;
  RetrievalTools with = tools(index);
  with.files = &folder;
  const ResolvedAugments resolved = resolveAugments(augment(user("lives"), "**", ""), {}, with);
  QVERIFY(resolved.query.has_value());
  QCOMPARE(resolved.retrieved[0].documents, std::size_t{3});
  QCOMPARE(
      messages(resolved).join('\n'),
      worded("Spanscope found the file \"far/out.txt\" <outside-querys-folder>, but expects a "
             "file in %1/people. <file-left-out>.\n"
             "Spanscope found d.pdf: <bytes-no-pdf>, but expects a PDF. <file-left-out>.\n"
             "Spanscope found e.jsonl: line 1: \"{\", but expects <json-value-ends>. <file-left-out>.\n"
             "Spanscope found picture.png: a picture, but expects <text-markdown-json>. <file-left-out>.")
          .arg(people.path()));
  for (int i = 0; i < 20; ++i) people.write(("people/z" + std::to_string(i) + ".pdf").c_str(), "x");
  const ResolvedAugments many = resolveAugments(augment(user("lives"), "**", ""), {}, with);
  QCOMPARE(many.diagnostics.size(), std::size_t{11});
  QVERIFY(messages(many).back().startsWith("Spanscope found 14 further files of \"**\""));
}

void TestResolveAugments::whatIsNoUtf8IsToldOf() {
  const PeopleFolder people;
  people.write("people/latin.txt", "The caf\xE9 of Nadia lives.");
  people.write("people/far/latin.md", "\xFF lives");
  Folder folder(people.path() + "/people");
  PassageIndex index;
  RetrievalTools with = tools(index);
  with.files = &folder;
  // Also where the index has them already.
  for (int i = 0; i < 2; ++i) {
    const ResolvedAugments resolved = resolveAugments(augment(user("Nadia"), "**", ""), {}, with);
    QCOMPARE(promptOf(resolved), QStringList{QString::fromUtf8("The caf\uFFFD of Nadia lives.")});
    QCOMPARE(
        messages(resolved).join('\n'),
        worded("Spanscope found far/latin.md: byte 0: <bytes-no-utf> (read as U+FFFD), but expects UTF-8\n"
               "Spanscope found latin.txt: byte 7: <bytes-no-utf> (read as U+FFFD), but expects UTF-8"));
  }
  for (int i = 0; i < 12; ++i) people.write(("people/z" + std::to_string(i) + ".txt").c_str(), "\xFF");
  const ResolvedAugments many = resolveAugments(augment(user("Nadia"), "**", ""), {}, with);
  QCOMPARE(many.diagnostics.size(), std::size_t{11});
  QVERIFY(messages(many).back().startsWith(
      worded("Spanscope found 4 further files of \"**\" with <bytes-no-utf>")));
}

void TestResolveAugments::pagesWithoutTextAreNamed() {
  const PeopleFolder people;
  people.write("people/some.pdf", retrieve::test::pdfOf({"Nadia lives in Rome.", "", ""}));
  people.write("people/none.pdf", retrieve::test::pdfOf({"", ""}));
  Folder folder(people.path() + "/people");
  PassageIndex index;
  RetrievalTools with = tools(index);
  with.files = &folder;
  // Also where the index has them already.
  for (int i = 0; i < 2; ++i) {
    const ResolvedAugments resolved = resolveAugments(augment(user("Nadia"), "**", ""), {}, with);
    QCOMPARE(promptOf(resolved), QStringList{"Nadia lives in Rome."});
    QCOMPARE(resolved.diagnostics.size(), std::size_t{2});
    QVERIFY(messages(resolved)[0].startsWith("Spanscope found none.pdf: 2 pages without text"));
    QVERIFY(messages(resolved)[1].startsWith("Spanscope found some.pdf: pages 2, 3: no text"));
  }
  // Alone, it is an error.
  QVERIFY(!resolveAugments(augment(user("Nadia"), "none.pdf", ""), {}, with).query.has_value());
}

/// Files as they are met: each is found by its words, or refused or remarked for what is wrong with it.
void TestResolveAugments::documentsOfOthers_data() {
  QTest::addColumn<QString>("question");
  QTest::addColumn<QString>("found");   // in a passage; empty: the file is refused
  QTest::addColumn<QString>("remark");  // empty: none
  const auto row = [](const char* file, const char* question, const char* found, const char* remark = "") {
    QTest::newRow(file) << QString::fromUtf8(question) << QString::fromUtf8(found) << worded(remark);
  };
  row("array.json", "Biscuit", "Biscuit");
  row("array.jsonl", "Biscuit", "", "<json-value-over>");
  row("bare-quote.csv", "Biscuit", "Tarek, The 12\" pet");
  row("bom.jsonl", "Biscuit", "The pet of Tarek is called Biscuit.");
  row("cp1252.txt", "Biscuit", "Biscuit", "<bytes-no-utf>");
  row("cut.pdf", "Biscuit", "", "damaged");
  row("empty.pdf", "Biscuit", "", "an empty file");
  row("fiqa-first100lines.jsonl", "training workers software", "on-the-job training");
  row("half-scanned.pdf", "Lisbon", "Mira lives in Lisbon.", "pages 2–5: no text");
  row("hyphen.pdf", "understandable", "understandable fountain");
  row("ligature.pdf", "efficient finance workflow", "The efficient finance office of Tarek");
  row("nan.jsonl", "Biscuit", "The pet of Tarek is called Biscuit.");
  row("nbsp.pdf", "pet Tarek", "The pet of Tarek");
  row("nfd.txt", "caf\u00e9", "Biscuit");
  row("nul.txt", "Biscuit", "", "zero byte");
  row("owner-only.pdf", "workflow", "The workflow is off today.");
  row("page.html", "Biscuit", "Biscuit");
  row("password.pdf", "Biscuit", "", "password");
  row("report.docx", "Biscuit", "", "ZIP");
  row("semicolon.csv", "Biscuit", "The pet of Tarek; it is called Biscuit.", "<bytes-no-utf>");
  row("softhyphen.pdf", "understandable", "the understandable dog");
  row("spaces.txt", "Biscuit", "", "shares a word");
  row("tabs.tsv", "Biscuit", "Tarek, The pet");
  for (const char* file : {"utf16be-bom.txt", "utf16le-bom.txt", "utf16le.txt", "utf32.txt", "utf8-bom.txt"})
    row(file, "caf\u00e9", "The caf\u00e9 of Tarek is called \u201cBiscuit\u201d.");
  row("\u00dcn\u00ef c\u00f6d\u00e9 \u6587\u4ef6.txt", "Biscuit", "Biscuit");
}

void TestResolveAugments::documentsOfOthers() {
  QFETCH(QString, question);
  QFETCH(QString, found);
  QFETCH(QString, remark);
  const QString cases = QStringLiteral(SPANSCOPE_GOLDEN_DIR "/../cases/documents");
  if (!QDir(cases).exists()) QSKIP("the folder of cases is not here");
  Folder folder(cases);
  PassageIndex index;
  RetrievalTools with = tools(index);
  with.files = &folder;
  const ResolvedAugments resolved =
      resolveAugments(augment(user(question.toStdString()), QTest::currentDataTag(), ""), {}, with);
  const QString prompt = promptOf(resolved).join('\n');
  QVERIFY2(found.isEmpty() ? prompt.isEmpty() : prompt.contains(found), qPrintable(prompt));
  const QString remarks = messages(resolved).join('\n');
  QVERIFY2(remark.isEmpty() ? remarks.isEmpty() : remarks.contains(remark), qPrintable(remarks));
  QVERIFY(resolved.diagnostics.size() <= 1);
}

/// Half of a character becomes U+FFFD, which the user must know.
void TestResolveAugments::halvesOfCharactersAreRemarked() {
  using namespace std::string_literals;
  const QTemporaryDir directory;
  QFile file(directory.filePath(QStringLiteral("half.txt")));
  QVERIFY(file.open(QIODevice::WriteOnly));
  const std::string bytes = "\xFF\xFE"s + "N\0a\0d\0i\0a\0 \0"s + "\x00\xD8"s + "x\0"s;
  file.write(bytes.data(), static_cast<qint64>(bytes.size()));
  file.close();
  Folder folder(directory.path());
  PassageIndex index;
  RetrievalTools with = tools(index);
  with.files = &folder;
  const ResolvedAugments resolved = resolveAugments(augment(user("Nadia"), "half.txt", ""), {}, with);
  QVERIFY(promptOf(resolved).join('\n').contains(QStringLiteral("Nadia \uFFFDx")));
  const QString remarks = messages(resolved).join('\n');
  QVERIFY2(remarks.contains(QStringLiteral("half.txt")), qPrintable(remarks));
  QVERIFY2(remarks.contains(QStringLiteral("14")), qPrintable(remarks));
}

void TestResolveAugments::filesThatAreNotThereAreErrors() {
  const PeopleFolder people;
  Folder folder(people.path() + "/people");
  PassageIndex index;
  RetrievalTools with = tools(index);
  with.files = &folder;
  for (const char* name : {"none.txt", "*.doc", "../secret.txt", "../*.txt", "../empty", "/etc"}) {
    const ResolvedAugments resolved = resolveAugments(augment(user("lives"), name, ""), {}, with);
    QVERIFY2(!resolved.query.has_value(), name);
    QCOMPARE(resolved.diagnostics.size(), std::size_t{1});
  }
  people.write("people/bad.pdf", "x");
  const ResolvedAugments bad = resolveAugments(augment(user("lives"), "bad.pdf", ""), {}, with);
  QVERIFY(!bad.query.has_value());
  // Without a name, or where files cannot be read, the document is empty.
  QVERIFY(resolveAugments(augment(user("lives"), "", ""), {}, with).query.has_value());
  QVERIFY(resolve(augment(user("lives"), "people", "")).query.has_value());
}

void TestResolveAugments::onlyChangedFilesAreIndexed() {
  const PeopleFolder people;
  Folder folder(people.path());
  PassageIndex index;
  retrieve::test::WordEmbedder words;
  RetrievalTools with = tools(index);
  with.files = &folder;
  with.embedder = [&]() -> Embedder& { return words; };
  RetrievalOptions hybrid;
  hybrid.ranking = Ranking::Hybrid;
  std::size_t added = 0;
  with.watch.progress = [&](const IndexProgress& now) {
    if (now.phase == IndexPhase::Documents) added = now.added;
  };
  const query::Node node = augment(user("lives"), "people", "");
  QVERIFY(resolveAugments(node, hybrid, with).query.has_value());
  QCOMPARE(added, std::size_t{3});
  QCOMPARE(words.embedded, std::size_t{4});  // and the question
  QVERIFY(resolveAugments(node, hybrid, with).query.has_value());
  QCOMPARE(added, std::size_t{0});
  QCOMPARE(words.embedded, std::size_t{5});
  people.write("people/b.txt", "Tarek lives by the sea.");
  QVERIFY(promptOf(resolveAugments(node, hybrid, with)).contains("Tarek lives by the sea."));
  QCOMPARE(added, std::size_t{1});
  QCOMPARE(words.embedded, std::size_t{7});
}

void TestResolveAugments::modelOfTheAugmentChoosesTheRanking() {
  PassageIndex index;
  retrieve::test::WordEmbedder words;
  RetrievalTools with = tools(index);
  with.isEmbedder = [](const std::string& name) { return name == "e"; };
  with.embedder = [&]() -> Embedder& { return words; };
  query::Node node = augment(user("Mira lives"), "a.csv", kPeople);
  const ResolvedAugments named = resolveAugments(node, {}, with);
  QCOMPARE(named.retrieved[0].ranking, Ranking::Embedding);
  QVERIFY(named.retrieved[0].passages[0].ranked.embedding.has_value());
  QCOMPARE(promptOf(named).size(), 3);
  QCOMPARE(promptOf(named)[0], QStringLiteral("Mira lives in Lisbon."));
  node.as<query::Augment>()->embeddingModel = "other";
  QCOMPARE(resolveAugments(node, {}, with).retrieved[0].ranking, Ranking::Lexical);
  RetrievalOptions lexical;
  lexical.ranking = Ranking::Lexical;
  node.as<query::Augment>()->embeddingModel = "e";
  QCOMPARE(resolveAugments(node, lexical, with).retrieved[0].ranking, Ranking::Lexical);
}

void TestResolveAugments::rankingWithoutAModelIsAnError() {
  RetrievalOptions hybrid;
  hybrid.ranking = Ranking::Hybrid;
  const ResolvedAugments resolved = resolve(augment(user("lives"), "a.csv", kPeople), hybrid);
  QVERIFY(!resolved.query.has_value());
  QCOMPARE(
      messages(resolved),
      QStringList{worded("Spanscope found ranking: \"hybrid<without-model-embeds>, but needs \"lexical\"")});
}

void TestResolveAugments::pinnedAndDropped() {
  const query::Node node = augment(user("Where does Mira live?"), "a.csv", kPeople);
  RetrievalOptions options;
  options.passages = 1;
  const ResolvedAugments plain = resolve(node, options);
  QCOMPARE(promptOf(plain), QStringList{"Mira lives in Lisbon."});
  const auto& found = plain.retrieved[0].passages;
  QCOMPARE(found.size(), std::size_t{2});  // the runner-up is listed too
  QVERIFY(found[0].isInPrompt && !found[1].isInPrompt && found[0].rank == 1 && found[1].rank == 2);

  PassageChoice& choice = options.choices[""];
  choice.dropped.insert(found[0].ranked.passage.hash);
  const ResolvedAugments dropped = resolve(node, options);
  QCOMPARE(promptOf(dropped), QStringList{"Otto lives in Porto."});
  QVERIFY(dropped.retrieved[0].passages[1].isDropped);

  // A passage that no word leads to, and one beyond the number that is wanted.
  const ResolvedAugments baker = resolve(augment(user("baker"), "a.csv", kPeople));
  choice.dropped.clear();
  choice.pinned = {baker.retrieved[0].passages[0].ranked.passage.hash, found[1].ranked.passage.hash};
  const ResolvedAugments pinned = resolve(node, options);
  QCOMPARE(promptOf(pinned), (QStringList{"Tarek is a baker.", "Otto lives in Porto."}));
  QCOMPARE(pinned.retrieved[0].passages[0].rank, std::size_t{0});
  QVERIFY(pinned.retrieved[0].passages[0].isPinned);
  QCOMPARE(QString::fromStdString(pinned.retrieved[0].passages[0].source), QStringLiteral("a.csv"));
  options.passages = 3;
  QCOMPARE(promptOf(resolve(node, options)),
           (QStringList{"Tarek is a baker.", "Otto lives in Porto.", "Mira lives in Lisbon."}));
}

void TestResolveAugments::lostPinIsAWarning() {
  RetrievalOptions options;
  options.choices[""].pinned = {"0123456789abcdef0123456789abcdef"};
  const ResolvedAugments resolved = resolve(augment(user("baker"), "a.csv", kPeople), options);
  QVERIFY(resolved.query.has_value());
  QCOMPARE(promptOf(resolved), QStringList{"Tarek is a baker."});
  QCOMPARE(resolved.diagnostics.size(), std::size_t{1});
  QVERIFY(messages(resolved)[0].contains(worded("1 <pinned-passage> not in \"a.csv\" any more")));
}

void TestResolveAugments::summariesAreSearched() {
  PassageIndex index;
  retrieve::test::FirstWords summarizer;
  RetrievalTools with = tools(index);
  with.summarizer = [&]() -> Summarizer& { return summarizer; };
  RetrievalOptions options;
  options.summaries = true;
  const query::Node node = augment(user("summary"), "a.csv", kPeople);
  const ResolvedAugments resolved = resolveAugments(node, options, with);
  QCOMPARE(promptOf(resolved), QStringList{"Summary: Mira lives Tarek is Otto lives"});
  QCOMPARE(resolved.retrieved[0].passages[0].ranked.passage.place,
           std::string("summary of record 1 to record 3"));
  QCOMPARE(summarizer.made, std::size_t{1});
  resolveAugments(node, options, with);
  QCOMPARE(summarizer.made, std::size_t{1});
}

void TestResolveAugments::canBeStopped() {
  std::stop_source stop;
  PassageIndex index;
  RetrievalTools with = tools(index);
  with.watch.stop = stop.get_token();
  stop.request_stop();
  const ResolvedAugments resolved = resolveAugments(augment(user("lives"), "a.csv", kPeople), {}, with);
  QVERIFY(resolved.isStopped && !resolved.query && resolved.diagnostics.empty());
}

SPANSCOPE_TEST(tst_resolve_augments, TestResolveAugments, QCoreApplication)
#include "tst_resolve_augments.moc"
