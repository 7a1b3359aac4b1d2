// Compares the names in a Bicep and a Terraform file with the models that their tools are generated from, and fails at
// the first that is not there, that is missing, or that has another API version.
//
//   node names.mjs main.bicep main.tf
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Language, Parser } from 'web-tree-sitter';

const read = (file) => readFileSync(file, 'utf8').replaceAll('\r\n', '\n');
const modules = join(dirname(fileURLToPath(import.meta.url)), 'node_modules');
const [bicepFile, terraformFile] = process.argv.slice(2);

// members reads one interface of a file of TypeScript declarations: each member's type, and whether it has to be given.
function members(declarations, name) {
  const body = new RegExp(`interface ${name}(?: extends [^{]+)? \\{\\n([\\s\\S]*?)\\n\\}`).exec(declarations)?.[1];
  assert.ok(body, `no interface ${name}`);
  const found = new Map();
  for (const [, member, optional, type] of body.matchAll(/^ {4}(?:readonly )?(\w+)(\??): (.*);$/gm)) {
    found.set(member, { required: optional === '', type: type.replace(/\[\]$/, '') });
  }
  return found;
}

// same fails unless all names are members, and all members that have to be given are among the names.
function same(what, names, allowed, always = []) {
  for (const name of names) {
    assert.ok(allowed.has(name) || always.includes(name), `${what}: there is no ${name}, but ${[...allowed.keys()].join(', ')}`);
  }
  for (const [name, { required }] of allowed) {
    assert.ok(!required || names.includes(name), `${what}: ${name} has to be given`);
  }
}

async function bicep(file) {
  const declarations = read(join(modules, '@azure/arm-cosmosdb/types/arm-cosmosdb.d.ts'));
  const version = /apiVersion \|\| "([\d-]+)"/.exec(read(join(modules, '@azure/arm-cosmosdb/dist/index.js')))[1];
  const models = {
    'Microsoft.DocumentDB/databaseAccounts': null, // named only, as existing
    'Microsoft.DocumentDB/databaseAccounts/sqlDatabases': 'SqlDatabaseCreateUpdateParameters',
    'Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers': 'SqlContainerCreateUpdateParameters',
    'Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments': 'SqlRoleAssignmentCreateUpdateParameters',
  };
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(join(modules, 'tree-sitter-bicep/tree-sitter-bicep.wasm')));
  const root = parser.parse(read(file)).rootNode;
  const broken = root.descendantsOfType('ERROR')[0];
  assert.ok(!root.hasError, `${file}: not Bicep${broken ? `, at line ${broken.startPosition.row + 1}` : ''}`);

  const properties = (object) => new Map(object.namedChildren.filter((c) => c.type === 'object_property').map((p) => [p.namedChild(0).text, p.namedChild(1)]));
  let checked = 0;
  // compare looks at an object's names, and at those of the objects in it.
  function compare(what, object, model) {
    const allowed = members(declarations, model);
    const given = properties(object);
    same(what, [...given.keys()], allowed);
    for (const [name, value] of given) {
      checked++;
      const type = allowed.get(name).type;
      if (value.type === 'object') {
        compare(`${what}.${name}`, value, type);
      }
      const known = new RegExp(`enum Known${type} \\{\\n([\\s\\S]*?)\\n\\}`).exec(declarations)?.[1];
      if (known) {
        const words = [...known.matchAll(/= "(\w+)"/g)].map((m) => m[1]);
        const said = value.descendantsOfType('string_content').map((s) => s.text);
        for (const word of said) {
          assert.ok(words.includes(word), `${what}.${name}: ${word} is none of ${words.join(', ')}`);
        }
      }
    }
  }

  let resources = 0;
  for (const resource of root.descendantsOfType('resource_declaration')) {
    resources++;
    const [type, at] = resource.descendantsOfType('string_content')[0].text.split('@');
    assert.ok(type in models, `${file}: what is ${type}?`);
    assert.equal(at, version, `${type}: API version`);
    const given = properties(resource.descendantsOfType('object')[0]);
    const body = models[type] ? { name: { required: true }, parent: { required: true }, properties: { required: true } } : { name: { required: true } };
    same(type, [...given.keys()], new Map(Object.entries(body)));
    if (models[type]) {
      compare(type, given.get('properties'), models[type]);
    }
  }
  assert.ok(resources >= 4 && checked >= 10, `${file}: only ${resources} resources and ${checked} properties were found`);
  console.log(`main.bicep: ${resources} resources, ${checked} properties, all in API version ${version}`);
}

function terraform(file) {
  const snake = (name) => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
  const text = read(file);
  const declared = new Set();
  let version = '';
  let checked = 0;
  // hclfmt has been over the file: a block ends with a brace at the beginning of a line, its arguments have two spaces.
  for (const [, kind, type, name, body] of text.matchAll(/^(resource|data) "(\w+)" "(\w+)" \{\n([\s\S]*?)\n\}$/gm)) {
    const folder = (kind === 'data' ? 'data-' : '') + type.replace('azurerm_', kind === 'data' ? 'azurerm_' : '').replaceAll('_', '-');
    const at = join(modules, '@cdktf/provider-azurerm/lib', folder, 'index');
    version = /providerVersion: '([\d.]+)'/.exec(read(`${at}.js`))[1];
    const config = folder.replace(/(^|-)(\w)/g, (_, __, c) => c.toUpperCase()) + 'Config';
    const allowed = new Map([...members(read(`${at}.d.ts`), config)].map(([n, v]) => [snake(n), v]));
    const given = [...body.matchAll(/^ {2}(\w+) *[={]/gm)].map((m) => m[1]);
    same(`${type}.${name}`, given, allowed, ['for_each', 'count', 'depends_on', 'lifecycle', 'provider']);
    declared.add(`${kind === 'data' ? 'data.' : ''}${type}.${name}`);
    checked += given.length;
  }
  for (const [, reference] of text.matchAll(/((?:data\.)?\bazurerm_\w+\.\w+)\.\w+/g)) {
    assert.ok(declared.has(reference), `${file}: ${reference} is not declared`);
  }
  for (const [, kind, name] of text.matchAll(/\b(var|local)\.(\w+)/g)) {
    assert.match(text, kind === 'var' ? new RegExp(`^variable "${name}" \\{`, 'm') : new RegExp(`^ {2}${name} += `, 'm'), `${kind}.${name}`);
  }
  assert.ok(declared.size >= 4 && checked >= 15, `${file}: only ${declared.size} blocks and ${checked} arguments were found`);
  console.log(`main.tf: ${declared.size} resources, ${checked} arguments, all in azurerm ${version}`);
}

await bicep(bicepFile);
terraform(terraformFile);
