package sql_test

import (
	"errors"
	"fmt"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
)

func ExampleParse() {
	q, err := sql.Parse(`select top 2 c.name, lower(c["e-mail"]) from c where (c.age >= @age) order by c.name`)
	if err != nil {
		panic(err)
	}
	fmt.Println(q)
	fmt.Println(q.Select.Names())
	// Output:
	// SELECT TOP 2 c.name, LOWER(c["e-mail"])
	// FROM c
	// WHERE c.age >= @age
	// ORDER BY c.name
	// [name $1]
}

func ExampleSyntaxError() {
	_, err := sql.Parse(`SELECT c.id FROM c WHERE STARTSWITH(c.name)`)
	var syntax *sql.SyntaxError
	if errors.As(err, &syntax) {
		fmt.Println(syntax.Code, syntax.Start, syntax.End)
		fmt.Println(syntax.Message)
	}
	// Output:
	// SC2050 25 43
	// The STARTSWITH function requires 2 to 3 argument(s).
}
